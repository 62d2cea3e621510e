/** The commands of {@code djlplan} that measure delegation: {@code tune} and {@code study}. */
package org.djlplan.cli.tune;
