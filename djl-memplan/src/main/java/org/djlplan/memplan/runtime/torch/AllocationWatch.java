package org.djlplan.memplan.runtime.torch;

import java.util.Optional;
import org.djlplan.memplan.runtime.Arena;
import org.djlplan.memplan.store.AllocationPlan;

/**
 * Records and places the allocations of predictions: the native library, or what stands in for it.
 */
interface AllocationWatch {

    /** A plan as predictions use it. Runs that use it keep it; closing it is then deferred. */
    interface Placing extends AutoCloseable {

        /**
         * Places this thread's allocations from now on; empty if a run is current on it already.
         */
        Optional<TorchRun> replay(Arena arena);

        @Override
        void close();
    }

    /** Records this thread's allocations from now on; empty if a run is current on it already. */
    Optional<TorchRun> record();

    /**
     * Takes a plan over.
     *
     * @throws IllegalArgumentException if it refuses the plan
     */
    Placing take(AllocationPlan plan);

    /** Returns the native library's. */
    static AllocationWatch ofEngine() {
        return new AllocationWatch() {
            @Override
            public Optional<TorchRun> record() {
                return NativeRun.record();
            }

            @Override
            public Placing take(AllocationPlan plan) {
                return NativePlan.of(plan);
            }
        };
    }
}
