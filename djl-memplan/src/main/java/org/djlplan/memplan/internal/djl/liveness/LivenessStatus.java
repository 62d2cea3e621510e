package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.nn.Block;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts what early closing did in a block, over all threads, and knows why it ended. Retains
 * neither the block nor its class.
 */
public final class LivenessStatus {

    private static final Logger logger = LoggerFactory.getLogger(LivenessStatus.class);

    private final String name;
    private final LongAdder closedEarly = new LongAdder();
    private final LongAdder divergences = new LongAdder();
    private final LongAdder fallbacks = new LongAdder();
    private volatile Optional<String> end;

    /**
     * @param end why nothing is closed early from the beginning, if that is so
     */
    LivenessStatus(Block block, Optional<String> end) {
        name = block.getClass().getSimpleName();
        this.end = end;
    }

    /** Ends early closing, with one warning. */
    synchronized void end(String reason) {
        if (end.isEmpty()) {
            end = Optional.of(reason);
            warn(reason);
        }
    }

    /** Warns that some passes, or all from now on, close nothing early. */
    void warn(String reason) {
        logger.warn("Intermediates of {} are left to DJL: {}", name, reason);
    }

    /** Returns why nothing is closed early; empty if arrays are. */
    public Optional<String> end() {
        return end;
    }

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
