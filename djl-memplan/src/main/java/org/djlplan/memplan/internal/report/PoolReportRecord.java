package org.djlplan.memplan.internal.report;

import org.djlplan.memplan.report.PoolReport;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/** The implementation of {@link PoolReport}. */
public record PoolReportRecord(
        PoolReport.Arenas arenas,
        PoolReport.Workspaces workspaces,
        long packedWeightsBytes,
        PoolReport.Workers workers,
        ImmutableMap<Cause, PoolReport.Waits> waitsByCause)
        implements PoolReport {

    @Override
    public PoolReport.Waits waits() {
        return new Waits(
                waitsByCause.values().stream().mapToLong(PoolReport.Waits::count).sum(),
                waitsByCause.values().stream().mapToLong(PoolReport.Waits::nanos).sum());
    }

    @Override
    public PoolReport.Waits waits(Cause cause) {
        return waitsByCause.getOrDefault(cause, new Waits(0, 0));
    }

    /** The implementation of {@link PoolReport.Arenas}. */
    public record Arenas(int count, long bytes, int inUse) implements PoolReport.Arenas {}

    /** The implementation of {@link PoolReport.Workspaces}. */
    public record Workspaces(int count, long separateBytes, long bytes)
            implements PoolReport.Workspaces {}

    /** The implementation of {@link PoolReport.Workers}. */
    public record Workers(int busy, int waiting) implements PoolReport.Workers {}

    /** The implementation of {@link PoolReport.Waits}. */
    public record Waits(long count, long nanos) implements PoolReport.Waits {}
}
