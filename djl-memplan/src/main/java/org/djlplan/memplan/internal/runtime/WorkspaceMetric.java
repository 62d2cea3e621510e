package org.djlplan.memplan.internal.runtime;

/**
 * The state of a {@link WorkspacePool} at one moment.
 *
 * @param workspaces number of workspaces on its pages
 * @param workspaceBytes their size with separate pages
 * @param files sets of pages
 * @param bytes of those
 * @param taken number of sets in use
 * @param moves number of switches of workspaces since the start
 */
public record WorkspaceMetric(
        int workspaces, long workspaceBytes, int files, long bytes, int taken, long moves) {}
