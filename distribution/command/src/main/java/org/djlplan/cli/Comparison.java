package org.djlplan.cli;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.stream.Stream;
import org.djlplan.cli.OutputDifference.Limit;
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
        Map<String, Optional<Other>> against,
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

        private Variant named(String name) {
            return new Variant(mode, figures.named(name), outputs, limits, types);
        }
    }

    /**
     * The stock engine in another configuration.
     *
     * @param outputs difference from the outputs of the stock run
     */
    record Other(RunFigures figures, OutputDifference outputs) {

        private static Other median(List<Other> runs) {
            return new Other(
                    RunFigures.median(runs.stream().map(Other::figures).toList()),
                    OutputDifference.worst(runs.stream().map(Other::outputs).toList()));
        }

        private Other named(String name) {
            return new Other(figures.named(name), outputs);
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
        Map<String, Optional<Other>> against =
                Maps.toMap(
                        first.against().keySet(),
                        name ->
                                first.against().get(name).isEmpty()
                                        ? Optional.empty()
                                        : Optional.of(
                                                Other.median(
                                                        runs.stream()
                                                                .map(r -> r.against.get(name).get())
                                                                .toList())));
        List<Variant> variants = new ArrayList<>();
        for (int i = 0; i < first.variants().size(); i++) {
            int index = i;
            List<Variant> each = runs.stream().map(run -> run.variants().get(index)).toList();
            variants.add(
                    new Variant(
                            each.get(0).mode(),
                            RunFigures.median(each.stream().map(Variant::figures).toList()),
                            OutputDifference.worst(each.stream().map(Variant::outputs).toList()),
                            each.get(0).limits(),
                            each.get(0).types()));
        }
        List<OutputDifference> lost = runs.stream().flatMap(run -> run.lost().stream()).toList();
        return new Comparison(
                medianOf(runs, Comparison::stock),
                lost.isEmpty() ? Optional.empty() : Optional.of(OutputDifference.worst(lost)),
                variants,
                against,
                runs);
    }

    private static RunFigures medianOf(
            List<Comparison> runs, Function<Comparison, RunFigures> part) {
        return RunFigures.median(runs.stream().map(part).toList());
    }

    /** Returns this comparison under another name of the model. */
    Comparison named(String name) {
        return new Comparison(
                stock.named(name),
                lost,
                variants.stream().map(variant -> variant.named(name)).toList(),
                Maps.transformValues(against, other -> other.map(each -> each.named(name))),
                runs.stream().map(run -> run.named(name)).toList());
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
        return figure == Figure.ARENA && variant(mode).map(Comparison::delegates).orElse(false)
                ? OptionalDouble.empty()
                : ratio(mode, figure, run -> run.stockValue(figure));
    }

    /**
     * Returns a mode's figure divided by stock's in another configuration; empty under the same
     * conditions as {@link #ratio(RunMode, Figure)}.
     */
    OptionalDouble ratio(RunMode mode, Figure figure, String allocator) {
        if (figure == Figure.ARENA && variant(mode).map(Comparison::delegates).orElse(false)) {
            return OptionalDouble.empty();
        }
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
        if (!runs.isEmpty()) {
            return Statistics.median(
                    runs.stream().map(run -> run.ratio(mode, figure, base)).toList());
        }
        Optional<RunFigures> figures = variant(mode).map(Variant::figures);
        if (figures.isEmpty()) {
            return OptionalDouble.empty();
        }
        OptionalDouble value = figures.get().get(figure);
        if (figure == Figure.ARENA) {
            value = sum(value, figures.get().get(Figure.INPUT_OUTPUT));
        }
        OptionalDouble divisor = base.apply(this);
        if (value.isEmpty() || divisor.isEmpty() || divisor.getAsDouble() == 0) {
            return OptionalDouble.empty();
        }
        return OptionalDouble.of(value.getAsDouble() / divisor.getAsDouble());
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
        JsonObject json = new JsonObject();
        json.add("stock", stock.toJson());
        json.addProperty("stockLosesTensor", lost.isPresent());
        json.add("planned", variantJson(RunMode.PLANNED));
        json.add("delegated", variantJson(RunMode.DELEGATED));
        Optional<Variant> planned = variant(RunMode.PLANNED);
        json.add("ratios", ratios(figure -> ratio(RunMode.PLANNED, figure)));
        json.add(
                "identical",
                planned.<JsonElement>map(each -> new JsonPrimitive(each.outputs().identical()))
                        .orElse(JsonNull.INSTANCE));
        json.add(
                "maxRelativeError",
                planned.map(each -> element(each.outputs().maxRelativeError()))
                        .orElse(JsonNull.INSTANCE));
        JsonObject others = new JsonObject();
        against.forEach((name, figures) -> others.add(name, other(name, figures)));
        json.add("against", others);
        JsonArray each = new JsonArray();
        runs.forEach(run -> each.add(run.toJson()));
        json.add("runs", each);
        return json;
    }

    private JsonElement variantJson(RunMode mode) {
        Optional<Variant> variant = variant(mode);
        if (variant.isEmpty()) {
            return JsonNull.INSTANCE;
        }
        OutputDifference outputs = variant.get().outputs();
        JsonObject json = variant.get().figures().toJson();
        json.add("ratios", ratios(figure -> ratio(mode, figure)));
        json.addProperty("identical", outputs.identical());
        json.add("maxRelativeError", element(outputs.maxRelativeError()));
        json.addProperty("limit", variant.get().limit().relative());
        json.addProperty("limitSteps", variant.get().limit().steps());
        json.addProperty("agrees", variant.get().agrees());
        return json;
    }

    private JsonElement other(String name, Optional<Other> run) {
        if (run.isEmpty()) {
            return JsonNull.INSTANCE;
        }
        JsonObject json = new JsonObject();
        json.add("figures", run.get().figures().toJson());
        json.add("ratios", ratios(figure -> ratio(main().mode(), figure, name)));
        if (main().mode() != RunMode.DELEGATED && variant(RunMode.DELEGATED).isPresent()) {
            json.add("delegatedRatios", ratios(figure -> ratio(RunMode.DELEGATED, figure, name)));
        }
        json.addProperty("identical", run.get().outputs().identical());
        json.add("maxRelativeError", element(run.get().outputs().maxRelativeError()));
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
