/**
 * The plans of models, for every engine alike: one that was kept is used if it still fits, else the
 * strategies make one at once; where that is above its lower bound, a search looks for a smaller
 * one, which is kept for later runs.
 *
 * <p>{@link org.djlplan.memplan.planning.PlanningService} does this for any problem. {@link
 * org.djlplan.memplan.planning.GraphPlanning} knows what a plan of a TFLite graph depends on and
 * where it is kept.
 */
package org.djlplan.memplan.planning;
