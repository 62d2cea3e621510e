/**
 * The one line that a DJL application adds, {@link org.djlplan.memplan.PlannedTranslatorFactory},
 * the handle on a model that was loaded with it, {@link org.djlplan.memplan.PlanHandle}, and one
 * model for many users: {@link org.djlplan.memplan.PlannedModels}.
 */
package org.djlplan.memplan;
