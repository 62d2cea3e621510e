/**
 * The API of djl-plan: {@link org.djlplan.memplan.PlannedTranslatorFactory}, the one line that a
 * DJL application adds; {@link org.djlplan.memplan.PlanHandle}, the handle of a loaded model; and
 * {@link org.djlplan.memplan.PlannedModels}, which shares one model among many users.
 *
 * @since 0.2
 */
@NullMarked
package org.djlplan.memplan;

import org.jspecify.annotations.NullMarked;
