/**
 * The one line that a DJL application adds, {@link org.djlplan.memplan.PlannedTranslatorFactory},
 * and the handle on a model that was loaded with it: {@link org.djlplan.memplan.PlanHandle}.
 */
package org.djlplan.memplan;
