package org.djlplan.memplan.internal.djl;

import java.util.Arrays;
import org.djlplan.memplan.internal.events.Waits;
import org.djlplan.memplan.internal.report.PoolReportRecord;
import org.djlplan.memplan.internal.runtime.ArenaMetric;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.runtime.OutputArena;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.internal.runtime.Workers;
import org.djlplan.memplan.internal.runtime.WorkersMetric;
import org.djlplan.memplan.internal.runtime.WorkspaceMetric;
import org.djlplan.memplan.internal.runtime.WorkspacePool;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.report.PoolReport;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.collect.Maps;

/** The resources that all planned models of this process share. */
public final class SharedPools {

    private SharedPools() {}

    private static ImmutableMap<PoolReport.Cause, PoolReport.Waits> waits() {
        return Arrays.stream(Waits.Lack.values())
                .collect(
                        Maps.toImmutableEnumMap(
                                lack -> PoolReport.Cause.valueOf(lack.name()),
                                lack ->
                                        new PoolReportRecord.Waits(
                                                Waits.count(lack), Waits.nanos(lack))));
    }

    /** Returns to the system the memory that no prediction uses. */
    public static void trim() {
        ArenaPool.shared().trimAll();
        OutputArena.shared().trim();
        ProcessMemory.trim();
    }

    /** Returns the current figures. */
    public static PoolReport report() {
        ArenaMetric arenas = ArenaPool.shared().metric();
        WorkspaceMetric workspaces = WorkspacePool.shared().metric();
        WorkersMetric workers = Workers.metric();
        return new PoolReportRecord(
                new PoolReportRecord.Arenas(
                        arenas.arenas(), arenas.arenaBytes(), arenas.leased(), arenas.overflows()),
                new PoolReportRecord.Workspaces(
                        workspaces.workspaces(), workspaces.workspaceBytes(), workspaces.bytes()),
                Delegates.packedWeightsBytes(),
                new PoolReportRecord.Workers(workers.busy(), workers.waiting()),
                waits());
    }
}
