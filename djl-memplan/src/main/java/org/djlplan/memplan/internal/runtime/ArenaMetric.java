package org.djlplan.memplan.internal.runtime;

/**
 * A read-only view of an arena pool.
 *
 * @param arenas number of arenas that exist
 * @param arenaBytes total size of these arenas
 * @param leased how many arenas are in use now
 */
public record ArenaMetric(int arenas, long arenaBytes, int leased) {}
