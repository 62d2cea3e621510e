package org.djlplan.memplan.internal.djl;

import java.util.Arrays;
import org.djlplan.memplan.internal.events.Waits;
import org.djlplan.memplan.internal.gate.Gate;
import org.djlplan.memplan.internal.runtime.ArenaMetric;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.runtime.OutputArena;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.internal.runtime.WorkspaceMetric;
import org.djlplan.memplan.internal.runtime.WorkspacePool;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.report.PoolReport;
import org.djlplan.thirdparty.guava.collect.Maps;

/** The resources that all planned models of this process share. */
public final class SharedPools {

    private SharedPools() {}

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
        Gate.Metric passes = Gate.shared().metric();
        return new PoolReport(
                new PoolReport.Arenas(arenas.arenas(), arenas.arenaBytes(), arenas.leased()),
                new PoolReport.Workspaces(
                        workspaces.workspaces(), workspaces.workspaceBytes(), workspaces.bytes()),
                Delegates.packedWeightsBytes(),
                new PoolReport.Workers(passes.busy(), passes.waiting()),
                Maps.toMap(
                        Arrays.asList(PoolReport.Cause.values()),
                        cause -> new PoolReport.Waits(Waits.count(cause), Waits.nanos(cause))));
    }
}
