/**
 * Reports on the plan of a model and on its predictions.
 *
 * @since 0.2
 */
@NullMarked
package org.djlplan.memplan.report;

import org.jspecify.annotations.NullMarked;
