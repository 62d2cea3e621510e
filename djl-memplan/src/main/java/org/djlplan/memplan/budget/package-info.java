/**
 * Budgeted inference, planned: a model's weights, activations and temporaries in one arena of a
 * given size, and when each piece of the weights is loaded into it. Pure.
 *
 * <p>{@link org.djlplan.memplan.budget.StreamingPlanner} asks the strategies; {@link
 * org.djlplan.memplan.budget.StreamingValidator}, which shares no code with them, checks what they
 * made; {@link org.djlplan.memplan.budget.Timeline} predicts how long an inference takes. Below
 * {@link org.djlplan.memplan.budget.BudgetBound} nothing fits; {@code Unfragmented} says what could
 * be reached if addresses were no matter.
 */
package org.djlplan.memplan.budget;
