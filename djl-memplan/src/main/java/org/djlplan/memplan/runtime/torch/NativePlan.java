package org.djlplan.memplan.runtime.torch;

import com.sun.jna.Pointer;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.runtime.Arena;
import org.djlplan.memplan.source.trace.Allocation;
import org.djlplan.memplan.store.AllocationPlan;

/** A plan as the native library takes it. */
final class NativePlan implements AllocationWatch.Placing {

    private static final long LEFT_TO_THE_ENGINE = -1;

    private final Pointer pointer;
    private final int allocations;

    private NativePlan(Pointer pointer, int allocations) {
        this.pointer = pointer;
        this.allocations = allocations;
    }

    /**
     * Hands a plan over.
     *
     * @throws IllegalArgumentException if the native library refuses it
     */
    static NativePlan of(AllocationPlan plan) {
        List<Allocation> trace = plan.trace().allocations();
        long[] bytes = new long[trace.size()];
        long[] offsets = new long[trace.size()];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = trace.get(i).bytes();
            offsets[i] = trace.get(i).plannable() ? plan.plan().offsetOf(i) : LEFT_TO_THE_ENGINE;
        }
        Pointer pointer =
                TorchNative.djlplan_torch_plan_create(
                        bytes, offsets, bytes.length, plan.plan().totalBytes());
        if (pointer == null) {
            throw new IllegalArgumentException(
                    "the native library refuses a plan of " + bytes.length + " allocations");
        }
        return new NativePlan(pointer, bytes.length);
    }

    Pointer pointer() {
        return pointer;
    }

    int allocations() {
        return allocations;
    }

    @Override
    public Optional<TorchRun> replay(Arena arena) {
        return NativeRun.replay(this, arena);
    }

    @Override
    public void close() {
        TorchNative.djlplan_torch_plan_delete(pointer);
    }
}
