package org.djlplan.memplan.runtime.tflite;

import com.google.common.primitives.Ints;
import java.util.Optional;
import org.djlplan.memplan.plan.portfolio.PlannedMemory;
import org.djlplan.memplan.runtime.ArenaPool;
import org.djlplan.memplan.usage.UsageRecord;

/** The plan of a model for one set of input shapes, in the form the native library takes. */
final class ShapePlan implements AutoCloseable {

    private final PlannedMemory memory;
    private final int[] ids;
    private final long[] offsets;
    private final Optional<ArenaPool.Need> need;

    ShapePlan(PlannedMemory memory, ArenaPool pool) {
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
        need = ids.length == 0 ? Optional.empty() : Optional.of(pool.announce(arenaBytes()));
    }

    /** Returns the plan and its figures. */
    PlannedMemory memory() {
        return memory;
    }

    /** Returns the size of the arena in bytes. */
    long arenaBytes() {
        return memory.plan().totalBytes();
    }

    /** Returns the right to lease arenas large enough; empty if no tensor needs a place. */
    Optional<ArenaPool.Need> need() {
        return need;
    }

    /**
     * Gives the plan to a session.
     *
     * @return whether it fits what the engine needs
     */
    boolean place(TfLiteSession session) {
        return session.place(ids, offsets, arenaBytes());
    }

    @Override
    public void close() {
        need.ifPresent(ArenaPool.Need::close);
    }
}
