/**
 * Exact search for offsets: fits a capacity or minimizes the arena, and proves the result where
 * possible.
 *
 * <p>{@link org.djlplan.study.search.ExactSearch} is the strategy. Inside, a {@code Minimizer}
 * makes attempts of growing effort; each is a depth-first {@code CapacitySearch} at one capacity
 * over a {@code PartialPlan}.
 */
package org.djlplan.study.search;
