/** The {@code djlplan} commands. Figures are measured in child processes, never in the launcher. */
package org.djlplan.memplan.cli;
