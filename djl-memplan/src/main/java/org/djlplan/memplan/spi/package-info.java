/**
 * Interfaces for other modules and for users: the choice of operators for a delegate, custom
 * delegates, and the models and runners that implementations receive.
 */
package org.djlplan.memplan.spi;
