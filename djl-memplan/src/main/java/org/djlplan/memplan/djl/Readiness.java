package org.djlplan.memplan.djl;

import ai.djl.Model;
import ai.djl.nn.Block;
import com.google.common.collect.MapMaker;
import java.util.Map;
import java.util.Optional;

/** Reports whether the delegate of a loaded model is verified, or never will be. */
@FunctionalInterface
public interface Readiness {

    /** Returns whether the model serves in its final form. Called by any thread; does not wait. */
    boolean isReady();

    /** Registers {@code readiness} for {@code block} as long as the block lives. */
    static void register(Block block, Readiness readiness) {
        Registered.ALL.put(block, readiness);
    }

    /** Returns the readiness of a model that may be delegated, or empty for other models. */
    static Optional<Readiness> of(Model model) {
        return Optional.ofNullable(Registered.ALL.get(model.getBlock()));
    }

    /** The readiness of all loaded models. */
    final class Registered {

        private static final Map<Block, Readiness> ALL = new MapMaker().weakKeys().makeMap();

        private Registered() {}
    }
}
