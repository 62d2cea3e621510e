/**
 * Interfaces for other modules and for users: the choice of operators for a delegate, custom
 * delegates, and the models and runners that implementations receive.
 *
 * @since 0.2
 */
@NullMarked
package org.djlplan.memplan.spi;

import org.jspecify.annotations.NullMarked;
