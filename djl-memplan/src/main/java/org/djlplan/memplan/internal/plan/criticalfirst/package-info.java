/**
 * The strategy {@link org.djlplan.memplan.internal.plan.criticalfirst.CriticalFirst}, for problems
 * of thousands to millions of units: it does not compare each unit with all that overlap it.
 */
package org.djlplan.memplan.internal.plan.criticalfirst;
