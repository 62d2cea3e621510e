package org.djlplan.memplan.internal.djl;

import java.util.Optional;
import org.djlplan.memplan.internal.planning.AllocationPlanning;
import org.djlplan.memplan.internal.runtime.torch.TorchMemory;
import org.djlplan.memplan.internal.store.Store;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * Runs an empty prediction, so that the classes of a PyTorch model's first prediction are loaded.
 */
final class TorchRehearsal {

    private TorchRehearsal() {}

    /** Stores nothing. */
    private static final class Nowhere<T> implements Store<T> {

        @Override
        public Optional<T> load(StoreKey key) {
            return Optional.empty();
        }

        @Override
        public void save(StoreKey key, T value) {}

        @Override
        public void offer(StoreKey key, T value) {}

        @Override
        public void flush() {}
    }

    /** Needs no engine. */
    static void run() {
        StoreKey key = new StoreKey("rehearsal", ImmutableMap.of());
        TorchMemory.rehearse(new AllocationPlanning(new Nowhere<>(), new Nowhere<>(), key));
    }
}
