package org.djlplan.memplan.internal.runtime;

/**
 * A read-only view of an arena pool.
 *
 * @param arenas number of arenas that exist
 * @param arenaBytes their size together
 * @param leased how many are in use now
 * @param overflows how often a prediction found all of them in use for too long and got memory of
 *     its own
 */
public record ArenaMetric(int arenas, long arenaBytes, int leased, long overflows) {}
