/**
 * Micrometer meters of planned models, if Micrometer is on the class path.
 *
 * @since 0.2
 */
@NullMarked
package org.djlplan.memplan.metrics;

import org.jspecify.annotations.NullMarked;
