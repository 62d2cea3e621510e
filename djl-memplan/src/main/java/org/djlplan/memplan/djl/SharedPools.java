package org.djlplan.memplan.djl;

import org.djlplan.memplan.events.Waits;
import org.djlplan.memplan.report.PoolReport;
import org.djlplan.memplan.runtime.ArenaMetric;
import org.djlplan.memplan.runtime.ArenaPool;
import org.djlplan.memplan.runtime.Workers;
import org.djlplan.memplan.runtime.WorkersMetric;
import org.djlplan.memplan.runtime.WorkspaceMetric;
import org.djlplan.memplan.runtime.WorkspacePool;
import org.djlplan.memplan.runtime.tflite.Delegates;

/** The resources that all planned models of this process share. */
public final class SharedPools {

    private SharedPools() {}

    /** Returns the current figures. */
    public static PoolReport report() {
        ArenaMetric arenas = ArenaPool.shared().metric();
        WorkspaceMetric workspaces = WorkspacePool.shared().metric();
        WorkersMetric workers = Workers.metric();
        return new PoolReport(
                new PoolReport.Arenas(
                        arenas.arenas(), arenas.arenaBytes(), arenas.leased(), arenas.overflows()),
                new PoolReport.Workspaces(
                        workspaces.workspaces(), workspaces.workspaceBytes(), workspaces.bytes()),
                Delegates.packedWeightsBytes(),
                new PoolReport.Workers(workers.busy(), workers.waiting()),
                new PoolReport.Waits(Waits.count(), Waits.nanos()));
    }
}
