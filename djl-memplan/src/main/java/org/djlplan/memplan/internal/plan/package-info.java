/**
 * Plans: strategies that assign the units of a planning problem offsets in one arena, by family of
 * algorithms; the portfolio that chooses the best plan; and the validator, which shares no code
 * with the strategies.
 *
 * <ul>
 *   <li>{@code greedy}: units in some order, each into the smallest gap
 *   <li>{@code portfolio}: runs several strategies and chooses the best plan
 * </ul>
 */
package org.djlplan.memplan.internal.plan;
