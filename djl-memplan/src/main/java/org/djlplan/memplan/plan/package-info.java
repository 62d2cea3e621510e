/**
 * Strategies that lay the units of a planning problem out in one arena, the portfolio that keeps
 * the best plan, and the validator, which shares no code with any strategy.
 */
package org.djlplan.memplan.plan;
