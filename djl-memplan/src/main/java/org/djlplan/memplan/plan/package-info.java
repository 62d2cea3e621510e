/**
 * Plans: strategies that lay the units of a planning problem out in one arena, by name and by
 * family of algorithms, the portfolio that keeps the best plan, and the validator, which shares no
 * code with any strategy.
 *
 * <ul>
 *   <li>{@code greedy}: units in one order or another, each into the smallest gap
 *   <li>{@code strippacking}: units stacked on a skyline
 *   <li>{@code criticalfirst}: for many thousand units
 *   <li>{@code search}: exact
 *   <li>{@code portfolio}: several strategies, the best plan
 * </ul>
 */
package org.djlplan.memplan.plan;
