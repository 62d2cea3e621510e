/**
 * Exact search for offsets: fits a capacity or minimizes the arena, and proves the result where
 * possible.
 *
 * <p>{@link org.djlplan.study.search.ExactSearch} is the strategy. Inside, a {@code Worker} makes
 * attempts of growing effort; each is a depth-first {@code CapacitySearch} at one capacity over a
 * {@code PartialPlan}, pruned by {@code Inference}. {@code SectionChoice} says what to decide next.
 */
package org.djlplan.study.search;
