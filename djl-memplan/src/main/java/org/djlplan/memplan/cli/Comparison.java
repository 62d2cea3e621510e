package org.djlplan.memplan.cli;

import com.google.common.collect.ImmutableList;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.OptionalDouble;

/**
 * A model run as stock and planned.
 *
 * @param stock figures of the stock run
 * @param planned figures of the planned run
 * @param outputs how far the outputs of the planned run are from those of the stock run
 */
record Comparison(RunFigures stock, RunFigures planned, OutputDifference outputs) {

    /** The figures that have a ratio, in the order of the report. */
    static final ImmutableList<Figure> RATIOS =
            ImmutableList.of(
                    Figure.MEDIAN_MILLIS,
                    Figure.P95_MILLIS,
                    Figure.P99_MILLIS,
                    Figure.PAGE_FAULTS,
                    Figure.PEAK_ABOVE_IDLE,
                    Figure.PEAK_ABOVE_LOADED,
                    Figure.ARENA,
                    Figure.LOAD_MILLIS);

    /**
     * Returns planned / stock, or empty if one is unknown or stock is zero. The stock engine's
     * arena holds inputs and outputs too, so these are added to the planned one.
     */
    OptionalDouble ratio(Figure figure) {
        OptionalDouble base = stockValue(figure);
        OptionalDouble value = planned.get(figure);
        if (figure == Figure.ARENA) {
            value = sum(value, planned.get(Figure.INPUT_OUTPUT));
        }
        if (value.isEmpty() || base.isEmpty() || base.getAsDouble() == 0) {
            return OptionalDouble.empty();
        }
        return OptionalDouble.of(value.getAsDouble() / base.getAsDouble());
    }

    /** Returns a figure of the stock run; its arena is the stock arena, however it is known. */
    OptionalDouble stockValue(Figure figure) {
        if (figure != Figure.ARENA) {
            return stock.get(figure);
        }
        OptionalDouble arena = stock.get(Figure.STOCK_ARENA);
        return arena.isPresent() ? arena : planned.get(Figure.STOCK_ARENA);
    }

    /** Returns all of it, with null for what does not apply. */
    JsonObject toJson() {
        JsonObject json = new JsonObject();
        json.add("stock", stock.toJson());
        json.add("planned", planned.toJson());
        JsonObject ratios = new JsonObject();
        RATIOS.forEach(figure -> ratios.add(figure.key(), element(ratio(figure))));
        json.add("ratios", ratios);
        json.addProperty("identical", outputs.identical());
        json.add("maxRelativeError", element(outputs.maxRelativeError()));
        return json;
    }

    private static OptionalDouble sum(OptionalDouble a, OptionalDouble b) {
        return a.isPresent() && b.isPresent()
                ? OptionalDouble.of(a.getAsDouble() + b.getAsDouble())
                : OptionalDouble.empty();
    }

    private static JsonElement element(OptionalDouble value) {
        return value.isPresent() ? new JsonPrimitive(value.getAsDouble()) : JsonNull.INSTANCE;
    }
}
