package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.nn.Block;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Knows why early closing in a block ended. Retains neither the block nor its class. */
public final class LivenessStatus {

    private static final Logger logger = LoggerFactory.getLogger(LivenessStatus.class);

    private final String name;
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
            logger.warn("Intermediates of {} are left to DJL: {}", name, reason);
        }
    }

    /** Returns why nothing is closed early; empty if arrays are. */
    public Optional<String> end() {
        return end;
    }
}
