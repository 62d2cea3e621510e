/**
 * Greedy strategies: an order in which units are placed, and one rule of placing them that all
 * share.
 */
package org.djlplan.memplan.plan.greedy;
