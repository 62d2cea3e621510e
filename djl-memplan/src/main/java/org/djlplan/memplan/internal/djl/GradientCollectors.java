package org.djlplan.memplan.internal.djl;

import ai.djl.engine.Engine;
import java.lang.reflect.Field;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says whether DJL's PyTorch engine collects gradients. A process has at most one collector at a
 * time, on any thread; a private field of the engine shows whether there is one.
 */
final class GradientCollectors {

    private static final Logger logger = LoggerFactory.getLogger(GradientCollectors.class);

    private static final Optional<AtomicBoolean> COLLECTING = find();

    private GradientCollectors() {}

    private static Optional<AtomicBoolean> find() {
        try {
            ClassLoader loader = Engine.getEngine("PyTorch").getClass().getClassLoader();
            Field collecting =
                    Class.forName("ai.djl.pytorch.engine.PtGradientCollector", true, loader)
                            .getDeclaredField("isCollecting");
            collecting.setAccessible(true);
            return Optional.of((AtomicBoolean) collecting.get(null));
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            logger.debug(
                    "It is not known when gradients are collected, so predictions record none", e);
            return Optional.empty();
        }
    }

    /** Returns whether a collector is open. */
    static boolean isOpen() {
        return COLLECTING.isPresent() && COLLECTING.get().get();
    }
}
