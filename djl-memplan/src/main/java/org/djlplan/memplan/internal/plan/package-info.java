/**
 * Plans: greedy strategies, which assign the units of a planning problem offsets in one arena; the
 * portfolio that chooses the best plan; and the validator, which shares no code with the
 * strategies.
 */
package org.djlplan.memplan.internal.plan;
