package org.djlplan.cli;

import ai.djl.util.Progress;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.internal.config.Nearest;
import org.djlplan.memplan.internal.plan.Attempt;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.plan.Portfolio;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.study.Strategies;
import org.djlplan.study.parallel.AntichainBound;
import org.djlplan.study.search.ExactSearch;
import org.djlplan.study.search.SearchLimits;
import org.djlplan.study.shared.SharedObjects;
import org.djlplan.study.shared.SharedStrategies;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.collect.Iterables;
import org.djlplan.thirdparty.guava.collect.Streams;

/**
 * The plans that the chosen strategies made for one input.
 *
 * @param input the planned input
 * @param plans one per strategy and variant, plans of one arena first
 */
record PlanRun(PlanInput input, List<Planned> plans) {

    /** Layout of plans that give every tensor an offset in one arena. */
    static final String OFFSETS = "offsets";

    /** Layout of plans that give every tensor one of several buffers. */
    static final String SHARED_OBJECTS = "shared-objects";

    PlanRun {
        plans = ImmutableList.copyOf(plans);
    }

    /**
     * A plan.
     *
     * @param plan the offsets; shared objects lie end to end
     */
    record Planned(Result result, OffsetPlan plan) {}

    /**
     * The figures of a plan; the fields are those of the JSON.
     *
     * @param strategy its name, with {@code "+in-place"} if tensors share places
     * @param layout {@link #OFFSETS} or {@link #SHARED_OBJECTS}
     * @param totalBytes size of the arena, or of all buffers together
     * @param millis duration of planning
     * @param valid whether the independent validator found no error
     * @param provedMinimal whether it is proved that no plan with this layout is smaller; for an
     *     in-place plan, no plan in which the same tensors share places
     * @param objectBytes size of each buffer, for shared objects
     */
    record Result(
            String strategy,
            String layout,
            long totalBytes,
            double millis,
            boolean valid,
            boolean provedMinimal,
            Optional<List<Long>> objectBytes) {}

    /**
     * Output of the plan command; the fields are those of its JSON.
     *
     * @param records number of planned tensors
     * @param view source of the records
     * @param naiveBytes total size of all tensors, without shared memory
     * @param lowerBoundBytes maximum operator breadth without aliases; in-place plans may be
     *     smaller
     * @param aliasedLowerBoundBytes the lower bound if tensors share places wherever operators may
     *     overwrite or view their inputs; without such operators, as in files of records, it equals
     *     {@code lowerBoundBytes}
     * @param sharedObjectsLowerBoundBytes sum of positional maxima without aliases
     * @param results one per strategy and variant
     * @param best the smallest valid plan with offsets; if there is none, the smallest valid plan
     *     with shared objects
     * @param bestSharedObjects the smallest valid plan with shared objects, if there is one
     * @param parallel the plan for parallel branches, if requested
     */
    record Output(
            int records,
            String view,
            long naiveBytes,
            long lowerBoundBytes,
            long aliasedLowerBoundBytes,
            long sharedObjectsLowerBoundBytes,
            List<Result> results,
            Result best,
            Optional<Result> bestSharedObjects,
            Optional<Parallel> parallel) {

        String toText() {
            StringBuilder text = new StringBuilder();
            text.append(
                    Figures.format(
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
            TextTable table = new TextTable(true, "strategy", "bytes", "ms", "");
            for (Result each : results) {
                table.row(
                        each.strategy(),
                        Figures.format("%,d", each.totalBytes()),
                        Figures.format("%.3f", each.millis()),
                        each.valid() ? "" : "INVALID");
            }
            text.append(table.text()).append('\n');
            text.append(describe("best", best, "proved minimal"));
            bestSharedObjects.ifPresent(
                    each -> text.append(describe("best shared objects", each, "proved optimal")));
            parallel.ifPresent(
                    each ->
                            text.append(
                                    Figures.format(
                                            "branches at once: %s, %,d bytes%s, %.3f times as much%n",
                                            each.strategy(),
                                            each.totalBytes(),
                                            each.provedMinimal() ? ", at the lower bound" : "",
                                            each.ratio())));
            return text.toString();
        }

        private static String describe(String what, Result result, String proof) {
            return Figures.format(
                    "%s: %s, %,d bytes%s%n",
                    what,
                    result.strategy(),
                    result.totalBytes(),
                    result.provedMinimal() ? ", " + proof : "");
        }
    }

    /**
     * Cost of a plan for an engine that runs independent branches at once.
     *
     * @param strategy name of the strategy, with {@code "+in-place"} when tensors share places
     * @param serialBytes arena of the best plan for operators that run one after another
     * @param totalBytes arena of this plan
     * @param ratio this arena divided by the serial one; 1 if both are empty
     * @param lowerBoundBytes lower bound of plans for parallel branches, with the same tensors
     *     sharing places
     * @param provedMinimal whether this plan reaches the bound
     */
    record Parallel(
            String strategy,
            long serialBytes,
            long totalBytes,
            double ratio,
            long lowerBoundBytes,
            boolean provedMinimal) {

        /**
         * Compares a plan for parallel branches with one for operators that run one after another.
         */
        static Parallel of(Attempt planned, long serialBytes) {
            long totalBytes = planned.plan().totalBytes();
            long boundBytes = AntichainBound.bytes(planned.plan().problem());
            return new Parallel(
                    planned.name(),
                    serialBytes,
                    totalBytes,
                    serialBytes == 0 ? 1 : Math.round(1e3 * totalBytes / serialBytes) / 1e3,
                    boundBytes,
                    totalBytes == boundBytes);
        }
    }

    /** Returns the limits of a search for a smaller plan; empty for no search. */
    static Optional<SearchLimits> limits(Duration time) {
        return time.isZero() ? Optional.empty() : Optional.of(SearchLimits.ofTime(time));
    }

    /**
     * Plans. If sizes become known at run time, only the strategy that works in rounds is run,
     * because the others need all sizes in advance.
     *
     * @param limits of the search for a smaller plan; empty for no search
     * @param line shows that a search runs, if anybody watches
     */
    static PlanRun of(
            PlanInput input,
            Choice choice,
            Optional<SearchLimits> limits,
            Optional<Progress> line) {
        boolean rounds = input.inRounds().isPresent();
        List<OffsetStrategy> strategies = input.inRounds().map(List::of).orElse(choice.offsets());
        List<Attempt> attempts =
                new Portfolio(strategies, input.alignmentBytes()).attempts(input.variants());
        Optional<Attempt> searched =
                limits.filter(each -> choice.search() && !rounds)
                        .flatMap(each -> searched(input, attempts, each, line));
        List<Attempt> shared =
                SharedStrategies.attempts(
                        rounds ? List.of() : choice.sharedObjects(), input.variants());
        return new PlanRun(
                input,
                Streams.concat(
                                attempts.stream().map(each -> planned(each, OFFSETS)),
                                searched.stream().map(each -> planned(each, OFFSETS)),
                                shared.stream().map(each -> planned(each, SHARED_OBJECTS)))
                        .toList());
    }

    private static Optional<Attempt> searched(
            PlanInput input, List<Attempt> attempts, SearchLimits limits, Optional<Progress> line) {
        String most =
                limits.time().map(time -> ", at most %d s".formatted(time.toSeconds())).orElse("");
        line.ifPresent(each -> each.reset("Searching for a smaller plan" + most, 1));
        line.ifPresent(each -> each.start(0));
        try {
            return new ExactSearch(limits).improve(attempts, input.alignmentBytes());
        } finally {
            line.ifPresent(Progress::end);
        }
    }

    private static Planned planned(Attempt attempt, String layout) {
        OffsetPlan plan = attempt.plan();
        return new Planned(
                new Result(
                        attempt.name(),
                        layout,
                        plan.totalBytes(),
                        millis(attempt.nanos()),
                        attempt.valid(),
                        attempt.valid() && attempt.provedMinimal(),
                        layout.equals(SHARED_OBJECTS)
                                ? Optional.of(SharedObjects.objectBytes(plan))
                                : Optional.empty()),
                plan);
    }

    private static double millis(long nanos) {
        return Math.round(nanos / 1e3) / 1e3;
    }

    /**
     * Returns the smallest valid plan of one arena; if only shared objects were planned, the
     * smallest of these.
     *
     * @throws IllegalStateException if no plan is valid
     */
    Planned best() {
        return smallest(OFFSETS)
                .or(() -> smallest(SHARED_OBJECTS))
                .orElseThrow(() -> new IllegalStateException("no valid plan"));
    }

    private Optional<Planned> smallest(String layout) {
        return plans.stream()
                .filter(each -> each.result().valid() && each.result().layout().equals(layout))
                .min(Comparator.comparingLong(each -> each.result().totalBytes()));
    }

    /**
     * Returns the output of the plan command.
     *
     * @param bestOnly whether only the best plan of one arena is listed
     */
    Output describe(boolean bestOnly, Optional<Parallel> parallel) {
        List<UsageRecord> records = input.variants().get(0).records();
        Planned best = best();
        return new Output(
                records.size(),
                input.view().label(),
                UsageRecords.naiveBytes(records),
                LowerBounds.offsetBytes(records),
                LowerBounds.offsetBytes(Iterables.getLast(input.variants()).units()),
                LowerBounds.sharedObjectBytes(records),
                (bestOnly ? List.of(best) : plans).stream().map(Planned::result).toList(),
                best.result(),
                smallest(SHARED_OBJECTS).map(Planned::result),
                parallel);
    }

    /**
     * The strategies that the user of the plan command requested.
     *
     * @param offsets strategies for one arena
     * @param sharedObjects strategies for shared objects
     * @param bestOnly whether to print only the best plan
     * @param search whether to search for a smaller plan
     */
    record Choice(
            List<OffsetStrategy> offsets,
            List<OffsetStrategy> sharedObjects,
            boolean bestOnly,
            boolean search) {

        /** The name for all strategies. */
        static final String ALL = "all";

        /**
         * Returns the choice for a name: {@link #ALL}, one strategy, or {@link Strategies#BEST}.
         *
         * @throws IllegalArgumentException if there is no such strategy; the message names the
         *     nearest
         */
        static Choice named(String name) {
            if (name.equals(ALL)) {
                return new Choice(Strategies.offsets(), SharedStrategies.all(), false, true);
            }
            List<OffsetStrategy> shared =
                    SharedStrategies.all().stream()
                            .filter(strategy -> strategy.name().equals(name))
                            .toList();
            if (!shared.isEmpty()) {
                return new Choice(List.of(), shared, false, false);
            }
            if (!Strategies.names().contains(name)) {
                throw new IllegalArgumentException(
                        "no strategy '%s'; did you mean '%s'?"
                                .formatted(name, Nearest.of(name, names())));
            }
            if (name.equals(ExactSearch.STRATEGY.name())) {
                return new Choice(Strategies.offsets(), List.of(), true, true);
            }
            return new Choice(
                    Strategies.named(name), List.of(), name.equals(Strategies.BEST), false);
        }

        private static ImmutableSet<String> names() {
            ImmutableSet.Builder<String> names = ImmutableSet.builder();
            SharedStrategies.all().forEach(strategy -> names.add(strategy.name()));
            return names.addAll(Strategies.names()).add(ALL).build();
        }
    }
}
