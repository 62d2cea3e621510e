/**
 * The strategy {@link org.djlplan.memplan.plan.criticalfirst.CriticalFirst}, for problems of
 * thousands to millions of units: no unit is compared with all that overlap it.
 */
package org.djlplan.memplan.plan.criticalfirst;
