package org.djlplan.memplan.djl;

import ai.djl.Model;
import ai.djl.nn.Block;
import com.google.common.collect.MapMaker;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.djlplan.memplan.graph.ArrayType;

/** Predicts the memory of predictions of a loaded model. Called by any thread. */
@FunctionalInterface
public interface Forecast {

    /**
     * Returns the peak bytes of the tensors of a prediction, with this thread's number of engine
     * threads; empty if it is not certain.
     */
    OptionalLong bytes(List<ArrayType> inputs);

    /** Registers {@code forecast} for {@code block} as long as the block lives. */
    static void register(Block block, Forecast forecast) {
        Registered.FORECASTS.put(block, forecast);
    }

    /** Returns the forecast of a model that can predict other shapes, or empty for other models. */
    static Optional<Forecast> of(Model model) {
        return Optional.ofNullable(Registered.FORECASTS.get(model.getBlock()));
    }

    /** The forecasts of the models that are loaded. */
    final class Registered {

        private static final Map<Block, Forecast> FORECASTS = new MapMaker().weakKeys().makeMap();

        private Registered() {}
    }
}
