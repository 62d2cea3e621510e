/**
 * All strategies by name, the portfolio that runs those that admit a problem and keeps the best
 * valid plan, and the planner that the run time calls with a graph.
 */
package org.djlplan.memplan.plan.portfolio;
