package org.djlplan.cli;

import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.thirdparty.guava.collect.Maps;

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

    RunFigures {
        values = Maps.immutableEnumMap(values);
    }

    /** Returns a figure, or empty if it does not apply. */
    OptionalDouble get(Figure figure) {
        Double value = values.get(figure);
        return value == null ? OptionalDouble.empty() : OptionalDouble.of(value);
    }

    /** Returns these figures under another name of the model. */
    RunFigures named(String name) {
        return new RunFigures(
                name,
                engine,
                djl,
                threads,
                values,
                outputSha256,
                unplannedReason,
                delegation,
                budget);
    }

    /** Returns the median of every figure over several runs of the same model, at least one. */
    static RunFigures median(List<RunFigures> runs) {
        Map<Figure, Double> values = new EnumMap<>(Figure.class);
        for (Figure figure : Figure.values()) {
            Statistics.median(runs.stream().map(run -> run.get(figure)).toList())
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

    /** Returns all keys in order, with null for figures that do not apply. */
    JsonObject toJson() {
        JsonObject json = new JsonObject();
        json.addProperty("model", model);
        json.addProperty("engine", engine);
        json.addProperty("djl", djl);
        json.add(
                "threads",
                threads.isPresent() ? new JsonPrimitive(threads.getAsInt()) : JsonNull.INSTANCE);
        for (Figure figure : Figure.values()) {
            json.add(figure.key(), element(figure));
        }
        json.addProperty("outputSha256", outputSha256);
        json.add(
                "unplannedReason",
                unplannedReason.<JsonElement>map(JsonPrimitive::new).orElse(JsonNull.INSTANCE));
        json.add(
                "delegation",
                delegation.<JsonElement>map(DelegationFacts::toJson).orElse(JsonNull.INSTANCE));
        json.add("budget", budget.<JsonElement>map(BudgetFacts::toJson).orElse(JsonNull.INSTANCE));
        return json;
    }

    /** Reads what {@link #toJson} writes. */
    static RunFigures fromJson(JsonObject json) {
        Map<Figure, Double> values = new EnumMap<>(Figure.class);
        for (Figure figure : Figure.values()) {
            JsonElement element = json.get(figure.key());
            if (!element.isJsonNull()) {
                values.put(figure, element.getAsDouble());
            }
        }
        JsonElement threads = json.get("threads");
        return new RunFigures(
                json.get("model").getAsString(),
                json.get("engine").getAsString(),
                json.get("djl").getAsString(),
                threads.isJsonNull() ? OptionalInt.empty() : OptionalInt.of(threads.getAsInt()),
                values,
                json.get("outputSha256").getAsString(),
                Optional.of(json.get("unplannedReason"))
                        .filter(reason -> !reason.isJsonNull())
                        .map(JsonElement::getAsString),
                Optional.of(json.get("delegation"))
                        .filter(report -> !report.isJsonNull())
                        .map(report -> DelegationFacts.fromJson(report.getAsJsonObject())),
                Optional.of(json.get("budget"))
                        .filter(report -> !report.isJsonNull())
                        .map(report -> BudgetFacts.fromJson(report.getAsJsonObject())));
    }

    private JsonElement element(Figure figure) {
        Double value = values.get(figure);
        if (value == null) {
            return JsonNull.INSTANCE;
        }
        return switch (figure.unit()) {
            case BYTES, COUNT -> new JsonPrimitive(Math.round(value));
            case MILLIS, RATE -> new JsonPrimitive(value);
        };
    }
}
