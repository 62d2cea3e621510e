package org.djlplan.memplan.plan.search;

/**
 * Units that are not placed yet, and the sections that hold them; no unit outside reaches in.
 *
 * @param units in any order; {@link Inference} sorts them
 * @param from first section
 * @param to last section
 */
record Part(int[] units, int from, int to) {}
