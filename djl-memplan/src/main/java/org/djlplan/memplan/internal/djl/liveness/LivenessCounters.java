package org.djlplan.memplan.internal.djl.liveness;

import java.util.concurrent.atomic.LongAdder;

/** Counts what early closing did in a block, over all threads. */
final class LivenessCounters {

    private final LongAdder closedEarly = new LongAdder();
    private final LongAdder divergences = new LongAdder();
    private final LongAdder fallbacks = new LongAdder();

    void closedEarly(long arrays) {
        closedEarly.add(arrays);
    }

    void diverged() {
        divergences.increment();
    }

    void fellBack() {
        fallbacks.increment();
    }

    long closedEarly() {
        return closedEarly.sum();
    }

    long divergences() {
        return divergences.sum();
    }

    long fallbacks() {
        return fallbacks.sum();
    }
}
