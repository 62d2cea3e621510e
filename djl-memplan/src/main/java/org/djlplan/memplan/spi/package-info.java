/** What other modules add: the choice of nodes for a delegate, and commands. */
package org.djlplan.memplan.spi;
