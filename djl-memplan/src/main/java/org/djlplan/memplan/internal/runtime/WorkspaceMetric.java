package org.djlplan.memplan.internal.runtime;

/**
 * The state of a {@link WorkspacePool} at one moment.
 *
 * @param workspaces number of workspaces on the pool's pages
 * @param workspaceBytes the memory that these workspaces would take on separate pages
 * @param files number of sets of pages
 * @param bytes total size of the sets of pages
 * @param taken number of sets in use
 * @param moves how often a workspace switched pages since the start
 */
public record WorkspaceMetric(
        int workspaces, long workspaceBytes, int files, long bytes, int taken, long moves) {}
