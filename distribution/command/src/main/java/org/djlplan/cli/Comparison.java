package org.djlplan.cli;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.stream.Stream;
import org.djlplan.cli.OutputDifference.Limit;
import org.djlplan.memplan.internal.json.Json;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.collect.Maps;

/**
 * The figures of a model that ran as stock and in other modes, once or several times.
 *
 * @param stock figures of the stock run
 * @param lost how stock's outputs differ, if they do, from those of a stock run that keeps every
 *     tensor. The variants are then compared with that run's outputs
 * @param variants the other modes, at least one: planned, delegated, or both in this order
 * @param against stock with other allocators, or from another DJL release, by name, in the
 *     requested order; empty for an allocator that is not available
 * @param runs each run, if the comparison was repeated in fresh processes; the figures and ratios
 *     here are then medians
 */
record Comparison(
        RunFigures stock,
        Optional<OutputDifference> lost,
        List<Variant> variants,
        Map<String, Optional<Variant>> against,
        List<Comparison> runs) {

    /** The figures for which ratios are computed, in the order of the report. */
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

    /**
     * A mode in which the model runs besides stock.
     *
     * @param outputs difference from the reference outputs
     * @param limits accepted difference of each output, in their order
     * @param types of the outputs, in their order
     */
    record Variant(
            RunMode mode,
            RunFigures figures,
            OutputDifference outputs,
            List<Limit> limits,
            List<String> types) {

        Variant {
            checkArgument(!limits.isEmpty(), "no limits");
            limits = ImmutableList.copyOf(limits);
            types = ImmutableList.copyOf(types);
        }

        /** Returns the largest limits. */
        Limit limit() {
            return limits.stream().reduce(Limit.IDENTICAL, Limit::or);
        }

        /** Returns whether the outputs are within this mode's limits. */
        boolean agrees() {
            return mode == RunMode.DELEGATED
                    ? outputs.agrees(limits)
                    : outputs.isAccepted(limit().relative());
        }

        /**
         * Returns a message if the outputs exceed this mode's limits; empty otherwise.
         *
         * @param reference name of the outputs that they are compared with
         */
        Optional<String> complaint(String reference) {
            if (agrees()) {
                return Optional.empty();
            }
            return Optional.of(
                    "%s: the %s outputs differ from %s by %s: %s"
                            .formatted(
                                    figures.model(),
                                    mode.label(),
                                    reference,
                                    outputs.text(),
                                    limit().equals(Limit.IDENTICAL)
                                            ? "they must be identical"
                                            : "the limit is "
                                                    + OutputDifference.scientific(
                                                            limit().relative())));
        }
    }

    Comparison {
        checkArgument(!variants.isEmpty(), "nothing to compare");
        variants = ImmutableList.copyOf(variants);
        against = ImmutableMap.copyOf(against);
        runs = ImmutableList.copyOf(runs);
    }

    /**
     * Returns the medians of comparisons of the same model in the same modes and with the same
     * allocators.
     *
     * @param runs at least one; a single one is returned unchanged
     */
    static Comparison median(List<Comparison> runs) {
        if (runs.size() == 1) {
            return runs.get(0);
        }
        Comparison first = runs.get(0);
        List<OutputDifference> lost = runs.stream().flatMap(run -> run.lost().stream()).toList();
        return new Comparison(
                RunFigures.median(runs.stream().map(Comparison::stock).toList()),
                lost.isEmpty() ? Optional.empty() : Optional.of(OutputDifference.worst(lost)),
                first.variants().stream()
                        .map(each -> median(runs, run -> run.variant(each.mode()).get()))
                        .toList(),
                Maps.transformEntries(
                        first.against(),
                        (name, other) ->
                                other.map(
                                        each -> median(runs, run -> run.against.get(name).get()))),
                runs);
    }

    private static Variant median(List<Comparison> runs, Function<Comparison, Variant> part) {
        List<Variant> each = runs.stream().map(part).toList();
        return new Variant(
                each.get(0).mode(),
                RunFigures.median(each.stream().map(Variant::figures).toList()),
                OutputDifference.worst(each.stream().map(Variant::outputs).toList()),
                each.get(0).limits(),
                each.get(0).types());
    }

    /** Returns the variant of a mode, if the model ran in that mode. */
    Optional<Variant> variant(RunMode mode) {
        return variants.stream().filter(variant -> variant.mode() == mode).findFirst();
    }

    /** Returns the variant whose ratios to stock with other allocators come first. */
    Variant main() {
        return variants.get(0);
    }

    /** Returns the name of the outputs that the variants are compared with, for people. */
    String reference() {
        return ReferenceOutputs.name(lost);
    }

    /**
     * Returns messages about outputs outside their limits, one line each; empty if there are none.
     */
    List<String> complaints() {
        return variants.stream()
                .flatMap(variant -> variant.complaint(reference()).stream())
                .toList();
    }

    /**
     * Returns a mode's figure divided by stock's, or empty if one is unknown or stock's is zero.
     * The stock engine's arena includes inputs and outputs, so these are added to the planned
     * arena. With a delegate there is no ratio of arenas, because the delegate has memory of its
     * own.
     */
    OptionalDouble ratio(RunMode mode, Figure figure) {
        return ratio(mode, figure, run -> run.stockValue(figure));
    }

    /**
     * Returns a mode's figure divided by stock's in another configuration; empty under the same
     * conditions as {@link #ratio(RunMode, Figure)}.
     */
    OptionalDouble ratio(RunMode mode, Figure figure, String allocator) {
        return ratio(
                mode,
                figure,
                run ->
                        run.against
                                .get(allocator)
                                .map(other -> other.figures().get(figure))
                                .orElseGet(OptionalDouble::empty));
    }

    private OptionalDouble ratio(
            RunMode mode, Figure figure, Function<Comparison, OptionalDouble> base) {
        boolean arena = figure == Figure.ARENA;
        Optional<Variant> variant = variant(mode);
        if (variant.isEmpty() || (arena && delegates(variant.get()))) {
            return OptionalDouble.empty();
        }
        if (!runs.isEmpty()) {
            return RunFigures.median(runs.stream().map(run -> run.ratio(mode, figure, base)));
        }
        RunFigures figures = variant.get().figures();
        OptionalDouble value = figures.get(figure);
        OptionalDouble more = arena ? figures.get(Figure.INPUT_OUTPUT) : OptionalDouble.of(0);
        OptionalDouble divisor = base.apply(this);
        return value.isEmpty() || more.isEmpty() || divisor.isEmpty() || divisor.getAsDouble() == 0
                ? OptionalDouble.empty()
                : OptionalDouble.of(
                        (value.getAsDouble() + more.getAsDouble()) / divisor.getAsDouble());
    }

    private static boolean delegates(Variant variant) {
        return variant.figures()
                .delegation()
                .map(DelegationReport::delegatedOperators)
                .filter(operators -> operators > 0)
                .isPresent();
    }

    /**
     * Returns a figure of the stock run; for its arena, the stock arena from whichever source is
     * known.
     */
    OptionalDouble stockValue(Figure figure) {
        if (figure != Figure.ARENA) {
            return stock.get(figure);
        }
        return Stream.concat(Stream.of(stock), variants.stream().map(Variant::figures))
                .map(figures -> figures.get(Figure.STOCK_ARENA))
                .filter(OptionalDouble::isPresent)
                .findFirst()
                .orElseGet(OptionalDouble::empty);
    }

    /**
     * Returns all of it, with null for figures that do not apply. For compatibility, the keys of
     * the first version besides {@code stock} and {@code planned} remain, and refer to the planned
     * run.
     */
    JsonObject toJson() {
        Optional<OutputDifference> planned = variant(RunMode.PLANNED).map(Variant::outputs);
        JsonObject json = new JsonObject();
        json.add("stock", stock.toJson());
        json.addProperty("stockLosesTensor", lost.isPresent());
        json.add("planned", variantJson(RunMode.PLANNED));
        json.add("delegated", variantJson(RunMode.DELEGATED));
        json.add("ratios", ratios(figure -> ratio(RunMode.PLANNED, figure)));
        json.add("identical", Json.tree(planned.map(OutputDifference::identical)));
        json.add("maxRelativeError", Json.tree(planned.map(OutputDifference::maxRelativeError)));
        json.add("against", Json.tree(Maps.transformEntries(against, this::other)));
        json.add("runs", Json.tree(runs.stream().map(Comparison::toJson).toList()));
        return json;
    }

    private JsonElement variantJson(RunMode mode) {
        Optional<Variant> variant = variant(mode);
        if (variant.isEmpty()) {
            return JsonNull.INSTANCE;
        }
        JsonObject json = variant.get().figures().toJson();
        json.add("ratios", ratios(figure -> ratio(mode, figure)));
        addDifference(json, variant.get().outputs());
        json.addProperty("limit", variant.get().limit().relative());
        json.addProperty("limitSteps", variant.get().limit().steps());
        json.addProperty("agrees", variant.get().agrees());
        return json;
    }

    private JsonElement other(String name, Optional<Variant> run) {
        if (run.isEmpty()) {
            return JsonNull.INSTANCE;
        }
        JsonObject json = new JsonObject();
        json.add("figures", run.get().figures().toJson());
        json.add("ratios", ratios(figure -> ratio(main().mode(), figure, name)));
        if (main().mode() != RunMode.DELEGATED && variant(RunMode.DELEGATED).isPresent()) {
            json.add("delegatedRatios", ratios(figure -> ratio(RunMode.DELEGATED, figure, name)));
        }
        addDifference(json, run.get().outputs());
        return json;
    }

    private static void addDifference(JsonObject json, OutputDifference outputs) {
        json.addProperty("identical", outputs.identical());
        json.add("maxRelativeError", Json.tree(outputs.maxRelativeError()));
    }

    private static JsonObject ratios(Function<Figure, OptionalDouble> source) {
        JsonObject ratios = new JsonObject();
        RATIOS.forEach(figure -> ratios.add(figure.key(), Json.tree(source.apply(figure))));
        return ratios;
    }
}
