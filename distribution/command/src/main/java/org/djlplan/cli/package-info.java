/**
 * The {@code djlplan} commands. Figures are measured in child processes, never in the launched
 * process.
 */
package org.djlplan.cli;
