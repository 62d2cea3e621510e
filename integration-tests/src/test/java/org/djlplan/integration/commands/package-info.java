/** The {@code djlplan} commands, each started as a user starts it: in a JVM of its own. */
package org.djlplan.integration.commands;
