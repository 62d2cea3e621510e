/**
 * All strategies by name, the portfolio that runs the suitable ones and returns the best valid
 * plan, and the planner of a graph.
 */
package org.djlplan.memplan.internal.plan.portfolio;
