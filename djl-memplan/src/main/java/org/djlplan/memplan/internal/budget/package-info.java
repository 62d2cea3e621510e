/**
 * Plans inference in a budget: a model's weights, activations and temporaries in one arena of a
 * given size, and the time at which each piece of the weights is loaded into it. Pure.
 *
 * <p>{@link org.djlplan.memplan.internal.budget.StreamingPlanner} runs the strategies; {@link
 * org.djlplan.memplan.internal.budget.StreamingValidator}, which shares no code with them, checks
 * their plans; {@link org.djlplan.memplan.internal.budget.Timeline} predicts the duration of an
 * inference. {@link org.djlplan.memplan.internal.budget.BudgetBound} is a lower bound; {@code
 * Unfragmented} computes the best result without regard to addresses.
 */
package org.djlplan.memplan.internal.budget;
