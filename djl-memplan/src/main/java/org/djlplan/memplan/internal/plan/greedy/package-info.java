/** Greedy strategies: various orders of units with one common placement rule. */
package org.djlplan.memplan.internal.plan.greedy;
