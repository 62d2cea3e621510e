package org.djlplan.memplan.internal.runtime.torch;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import java.util.Optional;
import java.util.function.Supplier;

/**
 * The plans of one model, which are looked up when a prediction first asks for them, because stored
 * plans are found by the model's structure, and this is known only when the model is loaded.
 * Thread-safe.
 */
final class PlansOnDemand implements Supplier<AllocationPlans>, AutoCloseable {

    /**
     * Empty after its first use, and when the model is closed, because it references the block, and
     * so the block's class loader.
     */
    private Optional<Supplier<AllocationPlans>> source;

    private volatile Optional<AllocationPlans> made = Optional.empty();

    /**
     * @param source called once, by the thread that needs plans first, while others wait
     */
    PlansOnDemand(Supplier<AllocationPlans> source) {
        this.source = Optional.of(source);
    }

    /**
     * Returns the plans.
     *
     * @throws IllegalStateException if the model was closed before they were looked up
     */
    @Override
    public AllocationPlans get() {
        Optional<AllocationPlans> known = made;
        return known.isPresent() ? known.get() : make();
    }

    private synchronized AllocationPlans make() {
        if (made.isEmpty()) {
            checkState(source.isPresent(), "the model is closed");
            made = Optional.of(source.get().get());
            source = Optional.empty();
        }
        return made.get();
    }

    /** Waits until everything is written, but not for long; without plans it returns at once. */
    @Override
    public void close() {
        synchronized (this) {
            source = Optional.empty();
        }
        made.ifPresent(AllocationPlans::flush);
    }
}
