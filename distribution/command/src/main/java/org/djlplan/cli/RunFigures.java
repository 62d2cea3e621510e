package org.djlplan.cli;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.json.Json;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.thirdparty.guava.collect.Maps;
import org.djlplan.thirdparty.guava.math.Quantiles;

/**
 * The measured figures of one model in one mode.
 *
 * @param model the model's file as named by the user
 * @param engine name of the DJL engine
 * @param djl version of DJL
 * @param threads requested threads; empty: the engine's default
 * @param values the figures that apply, in their units
 * @param outputSha256 SHA-256, in hexadecimal, of all outputs of the fixed inputs
 * @param unplannedReason why the model ran as stock although planning was requested; otherwise
 *     empty
 * @param delegation the delegated operators with the reason; empty if delegation was off
 * @param budget the model's use of its budget; empty if it had none
 */
record RunFigures(
        String model,
        String engine,
        String djl,
        OptionalInt threads,
        Map<Figure, Double> values,
        String outputSha256,
        Optional<String> unplannedReason,
        Optional<DelegationReport> delegation,
        Optional<BudgetReport> budget) {

    private static final String VALUES = "values";

    RunFigures {
        values = Maps.immutableEnumMap(values);
    }

    /** Returns a figure, or empty if it does not apply. */
    OptionalDouble get(Figure figure) {
        Double value = values.get(figure);
        return value == null ? OptionalDouble.empty() : OptionalDouble.of(value);
    }

    /** Returns the median of every figure over several runs of the same model, at least one. */
    static RunFigures median(List<RunFigures> runs) {
        Map<Figure, Double> values = new EnumMap<>(Figure.class);
        for (Figure figure : Figure.values()) {
            median(runs.stream().map(run -> run.get(figure)))
                    .ifPresent(value -> values.put(figure, value));
        }
        RunFigures first = runs.get(0);
        return new RunFigures(
                first.model,
                first.engine,
                first.djl,
                first.threads,
                values,
                first.outputSha256,
                first.unplannedReason,
                first.delegation,
                first.budget);
    }

    /** Returns the median of the present values, or empty if there are none. */
    static OptionalDouble median(Stream<OptionalDouble> values) {
        double[] present = values.flatMapToDouble(OptionalDouble::stream).toArray();
        return present.length == 0
                ? OptionalDouble.empty()
                : OptionalDouble.of(Quantiles.median().compute(present));
    }

    /** Returns all keys in order, with null for figures that do not apply. */
    JsonObject toJson() {
        JsonObject json = new JsonObject();
        Json.tree(this).getAsJsonObject().asMap().forEach((name, part) -> add(json, name, part));
        return json;
    }

    private void add(JsonObject json, String name, JsonElement part) {
        if (!name.equals(VALUES)) {
            json.add(name, part);
            return;
        }
        for (Figure figure : Figure.values()) {
            Double value = values.get(figure);
            boolean whole =
                    figure.unit() == Figure.Unit.BYTES || figure.unit() == Figure.Unit.COUNT;
            json.addProperty(
                    figure.key(), value == null || !whole ? value : (Number) Math.round(value));
        }
    }
}
