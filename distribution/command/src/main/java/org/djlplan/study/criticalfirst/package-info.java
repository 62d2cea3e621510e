/**
 * The strategy {@link org.djlplan.study.criticalfirst.CriticalFirst}, for problems of thousands to
 * millions of units. It does not compare each unit with all units that overlap it.
 */
package org.djlplan.study.criticalfirst;
