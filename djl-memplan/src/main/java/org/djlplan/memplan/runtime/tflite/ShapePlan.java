package org.djlplan.memplan.runtime.tflite;

import com.google.common.primitives.Ints;
import java.util.Optional;
import org.djlplan.memplan.plan.portfolio.EvaluatedPlan;
import org.djlplan.memplan.runtime.ArenaPool;
import org.djlplan.memplan.usage.UsageRecord;

/** The plan of a model for one set of input shapes, in the form the native library takes. */
final class ShapePlan {

    private final EvaluatedPlan memory;
    private final int[] ids;
    private final long[] offsets;

    ShapePlan(EvaluatedPlan memory) {
        this.memory = memory;
        ids =
                Ints.toArray(
                        memory.plan().problem().records().stream()
                                .map(UsageRecord::tensor)
                                .toList());
        offsets = new long[ids.length];
        for (int i = 0; i < ids.length; i++) {
            offsets[i] = memory.plan().offsetOf(ids[i]);
        }
    }

    /** Returns the plan and its figures. */
    EvaluatedPlan memory() {
        return memory;
    }

    /** Returns the size of the arena in bytes. */
    long arenaBytes() {
        return memory.plan().totalBytes();
    }

    /** Announces that arenas of this plan's size are used; empty if no tensor needs a place. */
    Optional<ArenaPool.Need> announce(ArenaPool pool) {
        return ids.length == 0 ? Optional.empty() : Optional.of(pool.announce(arenaBytes()));
    }

    /**
     * Gives the plan to a session.
     *
     * @return whether it fits what the engine needs
     */
    boolean place(EngineSession session) {
        return session.place(ids, offsets, arenaBytes());
    }
}
