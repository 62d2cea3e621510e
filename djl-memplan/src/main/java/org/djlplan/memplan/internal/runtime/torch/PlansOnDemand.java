package org.djlplan.memplan.internal.runtime.torch;

import java.util.Optional;
import java.util.function.Supplier;

/**
 * The plans of one model, which are looked up when a prediction first asks for them, because stored
 * plans are found by the model's structure, and this is known only when the model is loaded.
 * Thread-safe.
 */
final class PlansOnDemand implements Supplier<AllocationPlans> {

    /**
     * Empty after its first use, because it references the block, and so the block's class loader.
     */
    private Optional<Supplier<AllocationPlans>> source;

    private volatile Optional<AllocationPlans> made = Optional.empty();

    /**
     * @param source called once, by the thread that needs plans first, while others wait
     */
    PlansOnDemand(Supplier<AllocationPlans> source) {
        this.source = Optional.of(source);
    }

    @Override
    public AllocationPlans get() {
        Optional<AllocationPlans> known = made;
        return known.isPresent() ? known.get() : make();
    }

    private synchronized AllocationPlans make() {
        if (made.isEmpty()) {
            made = Optional.of(source.orElseThrow().get());
            source = Optional.empty();
        }
        return made.get();
    }

    /** Waits until everything is written, but not for long; without plans it returns at once. */
    void flush() {
        made.ifPresent(AllocationPlans::flush);
    }
}
