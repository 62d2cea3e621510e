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
     * Returns how many bytes the tensors of a prediction take at once, with as many threads as this
     * one has; empty if that is not known for sure.
     */
    OptionalLong bytes(List<ArrayType> inputs);

    /** Makes {@code forecast} answer for {@code block} as long as the block lives. */
    static void register(Block block, Forecast forecast) {
        Registered.FORECASTS.put(block, forecast);
    }

    /** Returns the forecast of a model of which shapes tell of others, or empty for any other. */
    static Optional<Forecast> of(Model model) {
        return Optional.ofNullable(Registered.FORECASTS.get(model.getBlock()));
    }

    /** The forecasts of the models that are loaded. */
    final class Registered {

        private static final Map<Block, Forecast> FORECASTS = new MapMaker().weakKeys().makeMap();

        private Registered() {}
    }
}
