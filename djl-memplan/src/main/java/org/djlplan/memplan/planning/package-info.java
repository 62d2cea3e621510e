/**
 * The plans of models, for every engine alike: one that was kept is used if it still fits, else the
 * strategies make one at once; where that is above its lower bound, a search looks for a smaller
 * one, which is kept for later runs.
 *
 * <p>{@code PlanningService} does this for any problem. {@link
 * org.djlplan.memplan.planning.GraphPlanning} and {@link
 * org.djlplan.memplan.planning.AllocationPlanning} know what the plan of a TFLite graph and of the
 * allocations of a PyTorch model depends on, and where it is kept; they answer what the runtime
 * asks.
 */
package org.djlplan.memplan.planning;
