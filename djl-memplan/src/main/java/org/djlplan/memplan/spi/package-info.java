/**
 * The interfaces that other modules implement: the choice of operators for a delegate, a user's
 * delegates, and commands; and the models and runners that they are given.
 */
package org.djlplan.memplan.spi;
