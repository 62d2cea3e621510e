package org.djlplan.cli;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonSerializer;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.portfolio.Attempt;
import org.djlplan.memplan.internal.usage.InPlace;
import org.djlplan.study.parallel.AntichainBound;
import org.djlplan.study.parallel.ParallelPlanner;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Output of the plan command; the fields are those of its JSON.
 *
 * @param records number of planned tensors
 * @param view source of the records: {@code file}, {@code live} or {@code csv}
 * @param naiveBytes total size of all tensors, without shared memory
 * @param lowerBoundBytes maximum operator breadth without aliases; in-place plans may be smaller
 * @param aliasedLowerBoundBytes the lower bound if tensors share places wherever operators may
 *     overwrite or view their inputs; without such operators, as in files of records, it equals
 *     {@code lowerBoundBytes}
 * @param sharedObjectsLowerBoundBytes sum of positional maxima without aliases
 * @param results one per strategy and variant
 * @param best the smallest valid plan with offsets; if there is none, the smallest valid plan with
 *     shared objects
 * @param bestSharedObjects the smallest valid plan with shared objects, if there is one
 */
record PlanOutput(
        int records,
        String view,
        long naiveBytes,
        long lowerBoundBytes,
        long aliasedLowerBoundBytes,
        long sharedObjectsLowerBoundBytes,
        List<Result> results,
        BestResult best,
        Optional<BestResult> bestSharedObjects) {

    /** Layout of plans that give every tensor an offset in one arena. */
    static final String OFFSETS = "offsets";

    /** Layout of plans that give every tensor one of several buffers. */
    static final String SHARED_OBJECTS = "shared-objects";

    /** Leaves out empty values. */
    private static final JsonSerializer<Optional<?>> OPTIONAL =
            (value, type, context) ->
                    value.isPresent() ? context.serialize(value.get()) : JsonNull.INSTANCE;

    private static final Gson GSON =
            new GsonBuilder()
                    .registerTypeAdapter(Optional.class, OPTIONAL)
                    .disableHtmlEscaping()
                    .setPrettyPrinting()
                    .create();

    PlanOutput {
        results = ImmutableList.copyOf(results);
    }

    /**
     * One plan.
     *
     * @param strategy its name, with {@code "+in-place"} if tensors share places
     * @param layout {@link #OFFSETS}: one arena; {@link #SHARED_OBJECTS}: buffers that hold one
     *     tensor at a time
     * @param totalBytes size of the arena, or of all buffers together
     * @param millis duration of planning; the median if repeated
     * @param valid whether the independent validator found no error
     * @param objectBytes size of each buffer, for shared objects
     */
    record Result(
            String strategy,
            String layout,
            long totalBytes,
            double millis,
            boolean valid,
            Optional<List<Long>> objectBytes) {}

    /**
     * The smallest valid plan.
     *
     * @param strategy as in {@link Result}
     * @param layout as in {@link Result}
     * @param totalBytes as in {@link Result}
     * @param millis as in {@link Result}
     * @param valid as in {@link Result}
     * @param provedMinimal whether it is proved that no plan with this layout is smaller; for an
     *     in-place plan, no plan in which the same tensors share places
     */
    record BestResult(
            String strategy,
            String layout,
            long totalBytes,
            double millis,
            boolean valid,
            boolean provedMinimal) {

        static BestResult of(Result result, boolean provedMinimal) {
            return new BestResult(
                    result.strategy,
                    result.layout,
                    result.totalBytes,
                    result.millis,
                    result.valid,
                    provedMinimal);
        }
    }

    /**
     * Returns everything as one JSON object.
     *
     * @param price cost of a parallel plan, written as the object {@code parallel}, if requested
     */
    String toJson(Optional<ParallelPrice> price) {
        JsonObject all = GSON.toJsonTree(this).getAsJsonObject();
        price.ifPresent(p -> all.add("parallel", GSON.toJsonTree(p.figures())));
        return GSON.toJson(all);
    }

    String toText(Optional<ParallelPrice> price) {
        StringBuilder text = new StringBuilder();
        text.append(
                String.format(
                        Locale.ROOT,
                        "%,d records (view: %s)%nnaive       %,15d bytes%n"
                                + "lower bound %,15d bytes (without sharing places)%n"
                                + "aliased     %,15d bytes (lower bound with places shared)%n"
                                + "objects     %,15d bytes (lower bound of shared objects)%n%n",
                        records,
                        view,
                        naiveBytes,
                        lowerBoundBytes,
                        aliasedLowerBoundBytes,
                        sharedObjectsLowerBoundBytes));
        int width = results.stream().mapToInt(r -> r.strategy.length()).max().orElse(0);
        for (Result r : results) {
            text.append(
                    String.format(
                            Locale.ROOT,
                            "%-" + Math.max(width, 30) + "s %,15d bytes  %10.3f ms%s%n",
                            r.strategy,
                            r.totalBytes,
                            r.millis,
                            r.valid ? "" : "  INVALID"));
        }
        text.append(describe("best", best, "proved minimal"));
        bestSharedObjects.ifPresent(
                shared -> text.append(describe("best shared objects", shared, "proved optimal")));
        price.ifPresent(p -> text.append(p.figures().toText()));
        return text.toString();
    }

    private static String describe(String what, BestResult result, String proof) {
        return String.format(
                Locale.ROOT,
                "%n%s: %s, %,d bytes%s",
                what,
                result.strategy,
                result.totalBytes,
                result.provedMinimal ? ", " + proof : "");
    }

    /**
     * A plan for an engine that runs independent branches at once, and its cost.
     *
     * @param plan the plan, valid in any order of operators that the graph allows
     * @param figures the comparison
     */
    record ParallelPrice(OffsetPlan plan, Figures figures) {

        /**
         * Cost of the plan; the fields are those of its JSON.
         *
         * @param strategy name of the strategy, with {@code "+in-place"} when tensors share places
         * @param serialBytes arena of the best plan for operators that run one after another
         * @param totalBytes arena of this plan
         * @param ratio this arena divided by the serial one; 1 if both are empty
         * @param lowerBoundBytes lower bound of plans for parallel branches, with the same tensors
         *     sharing places
         * @param provedMinimal whether this plan reaches the bound
         */
        record Figures(
                String strategy,
                long serialBytes,
                long totalBytes,
                double ratio,
                long lowerBoundBytes,
                boolean provedMinimal) {

            String toText() {
                return String.format(
                        Locale.ROOT,
                        "%nbranches at once: %s, %,d bytes%s, %.3f times as much",
                        strategy,
                        totalBytes,
                        provedMinimal ? ", at the lower bound" : "",
                        ratio);
            }
        }

        /**
         * Plans {@code graph} for parallel branches.
         *
         * @param serial the plan to compare with
         */
        static ParallelPrice of(Graph graph, OffsetPlan serial) {
            Attempt planned = ParallelPlanner.plan(graph, InPlace.TRUE);
            long totalBytes = planned.plan().totalBytes();
            long serialBytes = serial.totalBytes();
            long boundBytes = AntichainBound.bytes(planned.plan().problem());
            return new ParallelPrice(
                    planned.plan(),
                    new Figures(
                            planned.name(),
                            serialBytes,
                            totalBytes,
                            serialBytes == 0 ? 1 : Math.round(1e3 * totalBytes / serialBytes) / 1e3,
                            boundBytes,
                            totalBytes == boundBytes));
        }
    }
}
