package org.djlplan.memplan.runtime;

/**
 * The state of a {@link WorkspacePool} at one moment.
 *
 * @param workspaces how many lie on its pages
 * @param workspaceBytes what they would take without it
 * @param files sets of pages
 * @param bytes of those
 * @param taken how many of them are in use
 * @param moves how often a workspace went over to other pages, since the start
 */
public record WorkspaceMetric(
        int workspaces, long workspaceBytes, int files, long bytes, int taken, long moves) {}
