package org.djlplan.memplan.cli;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;

/**
 * A model run as stock and planned, once or several times.
 *
 * @param stock figures of the stock run
 * @param planned figures of the planned run
 * @param outputs how far the outputs of the planned run are from those of the stock run
 * @param against figures of the stock engine with other allocators by name, in the order asked for;
 *     empty where there is no such allocator
 * @param runs when repeated in fresh processes: each run; then figures and ratios here are medians
 */
record Comparison(
        RunFigures stock,
        RunFigures planned,
        OutputDifference outputs,
        Map<String, Optional<RunFigures>> against,
        List<Comparison> runs) {

    /** The figures that have a ratio, in the order of the report. */
    static final ImmutableList<Figure> RATIOS =
            ImmutableList.of(
                    Figure.MEDIAN_MILLIS,
                    Figure.P95_MILLIS,
                    Figure.P99_MILLIS,
                    Figure.PAGE_FAULTS,
                    Figure.PEAK,
                    Figure.PEAK_ABOVE_IDLE,
                    Figure.PEAK_ABOVE_LOADED,
                    Figure.ARENA,
                    Figure.LOAD_MILLIS);

    Comparison {
        against = ImmutableMap.copyOf(against);
        runs = ImmutableList.copyOf(runs);
    }

    /**
     * Sums up comparisons of the same model with the same allocators.
     *
     * @param runs at least one; if it is the only one, it is returned as it is
     */
    static Comparison median(List<Comparison> runs) {
        if (runs.size() == 1) {
            return runs.get(0);
        }
        Map<String, Optional<RunFigures>> against =
                Maps.toMap(
                        runs.get(0).against().keySet(),
                        name ->
                                runs.get(0).against().get(name).isEmpty()
                                        ? Optional.empty()
                                        : Optional.of(
                                                medianOf(runs, r -> r.against.get(name).get())));
        return new Comparison(
                medianOf(runs, Comparison::stock),
                medianOf(runs, Comparison::planned),
                OutputDifference.worst(runs.stream().map(Comparison::outputs).toList()),
                against,
                runs);
    }

    private static RunFigures medianOf(
            List<Comparison> runs, Function<Comparison, RunFigures> part) {
        return RunFigures.median(runs.stream().map(part).toList());
    }

    /** Returns the same comparison of the same model under another name. */
    Comparison named(String name) {
        return new Comparison(
                stock.named(name),
                planned.named(name),
                outputs,
                Maps.transformValues(against, other -> other.map(run -> run.named(name))),
                runs.stream().map(run -> run.named(name)).toList());
    }

    /**
     * Returns planned / stock, or empty if one is unknown or stock is zero. The stock engine's
     * arena holds inputs and outputs too, so these are added to the planned one.
     */
    OptionalDouble ratio(Figure figure) {
        return ratio(figure, run -> run.stockValue(figure));
    }

    /** Returns planned / stock with another allocator, or empty as above. */
    OptionalDouble ratio(Figure figure, String allocator) {
        return ratio(
                figure,
                run ->
                        run.against
                                .get(allocator)
                                .map(other -> other.get(figure))
                                .orElseGet(OptionalDouble::empty));
    }

    private OptionalDouble ratio(Figure figure, Function<Comparison, OptionalDouble> base) {
        if (!runs.isEmpty()) {
            return Statistics.median(runs.stream().map(run -> run.ratio(figure, base)).toList());
        }
        OptionalDouble value = planned.get(figure);
        if (figure == Figure.ARENA) {
            value = sum(value, planned.get(Figure.INPUT_OUTPUT));
        }
        OptionalDouble divisor = base.apply(this);
        if (value.isEmpty() || divisor.isEmpty() || divisor.getAsDouble() == 0) {
            return OptionalDouble.empty();
        }
        return OptionalDouble.of(value.getAsDouble() / divisor.getAsDouble());
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
        json.add("ratios", ratios(this::ratio));
        json.addProperty("identical", outputs.identical());
        json.add("maxRelativeError", element(outputs.maxRelativeError()));
        JsonObject others = new JsonObject();
        against.forEach((name, figures) -> others.add(name, other(name, figures)));
        json.add("against", others);
        JsonArray each = new JsonArray();
        runs.forEach(run -> each.add(run.toJson()));
        json.add("runs", each);
        return json;
    }

    private JsonElement other(String name, Optional<RunFigures> figures) {
        if (figures.isEmpty()) {
            return JsonNull.INSTANCE;
        }
        JsonObject json = new JsonObject();
        json.add("figures", figures.get().toJson());
        json.add("ratios", ratios(figure -> ratio(figure, name)));
        return json;
    }

    private static JsonObject ratios(Function<Figure, OptionalDouble> source) {
        JsonObject ratios = new JsonObject();
        RATIOS.forEach(figure -> ratios.add(figure.key(), element(source.apply(figure))));
        return ratios;
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
