package org.djlplan.memplan.runtime.torch;

import java.time.Duration;
import java.util.Optional;
import org.djlplan.memplan.plan.portfolio.EvaluatedPlan;
import org.djlplan.memplan.runtime.Arena;
import org.djlplan.memplan.runtime.ArenaPool;
import org.djlplan.memplan.store.AllocationPlan;

/** A plan that predictions use. Equal to itself only. */
final class InstalledPlan implements AutoCloseable {

    private final AllocationPlan plan;
    private final EvaluatedPlan figures;
    private final AllocationWatch.Placing placing;
    private final ArenaPool.Need need;

    private InstalledPlan(
            AllocationPlan plan,
            EvaluatedPlan figures,
            AllocationWatch.Placing placing,
            ArenaPool.Need need) {
        this.plan = plan;
        this.figures = figures;
        this.placing = placing;
        this.need = need;
    }

    /**
     * Hands a plan over and announces its arena.
     *
     * @throws IllegalArgumentException if it is refused
     */
    static InstalledPlan of(
            AllocationPlan plan,
            EvaluatedPlan figures,
            AllocationWatch watch,
            ArenaPool pool,
            boolean hugePages) {
        // A model may allocate nothing that can be planned; even then its runs are checked.
        long arenaBytes = Math.max(1, plan.plan().totalBytes());
        return new InstalledPlan(
                plan, figures, watch.take(plan), pool.announce(arenaBytes, hugePages));
    }

    AllocationPlan plan() {
        return plan;
    }

    EvaluatedPlan figures() {
        return figures;
    }

    /**
     * Returns an arena for one prediction, if fewer than {@code limit} are in use; empty if they
     * are for as long as {@code wait}, and for a plan that is closed.
     */
    Optional<ArenaPool.Lease> tryLease(int limit, Duration wait) {
        return need.tryLease(limit, wait);
    }

    /** Begins a run in an arena; empty if a run is current on this thread already. */
    Optional<TorchRun> replay(Arena arena) {
        return placing.replay(arena);
    }

    @Override
    public void close() {
        need.close();
        placing.close();
    }
}
