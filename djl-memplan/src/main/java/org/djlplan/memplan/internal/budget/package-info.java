/**
 * Plans inference in a budget: a model's weights, activations and temporaries in one arena of a
 * given size, and the time at which each piece of the weights is loaded into it. Pure.
 *
 * <p>{@code LookAhead} is the window over the weights that both engines use. For TensorFlow Lite
 * {@link org.djlplan.memplan.internal.budget.StreamingPlanner} also finds addresses in an arena;
 * {@link org.djlplan.memplan.internal.budget.Timeline} predicts the duration of an inference. For
 * PyTorch, whose weights keep their addresses, {@link
 * org.djlplan.memplan.internal.budget.ResidencyPlanner} only loads and drops.
 */
package org.djlplan.memplan.internal.budget;
