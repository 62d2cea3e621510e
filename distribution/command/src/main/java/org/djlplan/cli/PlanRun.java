package org.djlplan.cli;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import ai.djl.util.Progress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.config.Nearest;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.plan.portfolio.Attempt;
import org.djlplan.memplan.internal.plan.portfolio.Portfolio;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.study.Strategies;
import org.djlplan.study.search.ExactSearch;
import org.djlplan.study.search.SearchLimits;
import org.djlplan.study.shared.EndToEnd;
import org.djlplan.study.shared.SharedAttempt;
import org.djlplan.study.shared.SharedObjectsPlan;
import org.djlplan.study.shared.SharedObjectsPortfolio;
import org.djlplan.study.shared.SharedObjectsStrategy;
import org.djlplan.study.shared.SharedStrategies;
import org.djlplan.thirdparty.guava.base.Stopwatch;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.collect.Iterables;
import org.djlplan.thirdparty.guava.math.Quantiles;

/**
 * The plans that the chosen strategies made for one input.
 *
 * @param input the planned input
 * @param offsets plans of one arena, one per strategy and variant
 * @param sharedObjects plans of shared objects, one per strategy and variant
 */
record PlanRun(PlanInput input, List<Attempt> offsets, List<SharedAttempt> sharedObjects) {

    PlanRun {
        offsets = ImmutableList.copyOf(offsets);
        sharedObjects = ImmutableList.copyOf(sharedObjects);
    }

    /**
     * Plans. If sizes become known at run time, only the strategy that works in rounds is run,
     * because the others need all sizes in advance.
     *
     * @param limits of the search for a smaller plan; empty for no search
     */
    static PlanRun of(PlanInput input, Choice choice, Optional<SearchLimits> limits) {
        return of(input, choice, limits, Optional.empty());
    }

    /**
     * Plans as the method above does, and reports progress.
     *
     * @param line receives the progress of the search; empty if the progress is not shown
     */
    static PlanRun of(
            PlanInput input,
            Choice choice,
            Optional<SearchLimits> limits,
            Optional<Progress> line) {
        if (input.inRounds().isPresent()) {
            Portfolio rounds =
                    new Portfolio(List.of(input.inRounds().get()), input.alignmentBytes());
            return new PlanRun(input, rounds.attempts(input.variants()), List.of());
        }
        Portfolio portfolio = new Portfolio(choice.offsets(), input.alignmentBytes());
        List<Attempt> attempts = portfolio.attempts(input.variants());
        Optional<Attempt> searched =
                limits.filter(each -> choice.search())
                        .flatMap(each -> searched(input, attempts, each, line));
        return new PlanRun(
                input,
                Stream.concat(attempts.stream(), searched.stream()).toList(),
                new SharedObjectsPortfolio(choice.sharedObjects()).attempts(input.variants()));
    }

    private static Optional<Attempt> searched(
            PlanInput input, List<Attempt> attempts, SearchLimits limits, Optional<Progress> line) {
        Optional<SearchNews> news = SearchNews.start(line, limits.time());
        try {
            return new ExactSearch(limits).improve(attempts, input.alignmentBytes());
        } finally {
            news.ifPresent(SearchNews::close);
        }
    }

    /**
     * Returns the smallest plan of one arena; if only shared objects were planned, the smallest
     * plan of these, laid end to end. Empty if no plan is valid.
     */
    Optional<OffsetPlan> bestPlan() {
        return Portfolio.smallest(offsets)
                .map(Attempt::plan)
                .or(() -> bestSharedObjects().map(best -> EndToEnd.layOut(best.plan())));
    }

    private Optional<SharedAttempt> bestSharedObjects() {
        return SharedObjectsPortfolio.smallest(sharedObjects);
    }

    /**
     * Returns the output to print.
     *
     * @param bestOnly whether only the best plan is to be listed
     * @param repeat how often to plan again for a median time; 1 for the time of the first run
     * @throws java.util.NoSuchElementException if no plan is valid
     */
    PlanOutput describe(boolean bestOnly, int repeat) {
        Optional<Attempt> bestOffsets = Portfolio.smallest(offsets);
        Optional<SharedAttempt> bestShared = bestSharedObjects();
        List<PlanOutput.Result> results =
                Stream.concat(
                                offsets.stream()
                                        .filter(each -> !bestOnly || each.equals(bestOffsets.get()))
                                        .map(attempt -> result(attempt, repeat)),
                                sharedObjects.stream().map(attempt -> result(attempt, repeat)))
                        .toList();
        Optional<PlanOutput.BestResult> shared =
                bestShared.map(best -> best(results, best.name(), best.provedMinimal()));
        List<UsageRecord> records = input.variants().get(0).records();
        return new PlanOutput(
                records.size(),
                input.view().label(),
                UsageRecords.naiveBytes(records),
                LowerBounds.offsetBytes(records),
                LowerBounds.offsetBytes(Iterables.getLast(input.variants()).units()),
                LowerBounds.sharedObjectBytes(records),
                results,
                bestOffsets.map(best -> best(results, best)).or(() -> shared).orElseThrow(),
                shared);
    }

    private static PlanOutput.BestResult best(List<PlanOutput.Result> results, Attempt best) {
        return best(results, best.name(), best.provedMinimal());
    }

    private static PlanOutput.BestResult best(
            List<PlanOutput.Result> results, String name, boolean provedMinimal) {
        return results.stream()
                .filter(result -> result.strategy().equals(name))
                .findFirst()
                .map(result -> PlanOutput.BestResult.of(result, provedMinimal))
                .orElseThrow();
    }

    private PlanOutput.Result result(Attempt attempt, int repeat) {
        OffsetPlan plan = attempt.plan();
        OffsetStrategy again =
                input.inRounds().orElseGet(() -> Strategies.named(plan.strategy()).get(0));
        int times = again instanceof ExactSearch ? 1 : repeat;
        return new PlanOutput.Result(
                attempt.name(),
                PlanOutput.OFFSETS,
                plan.totalBytes(),
                millis(attempt.nanos(), times, plan, () -> again.plan(plan.problem())),
                attempt.valid(),
                Optional.empty());
    }

    private static PlanOutput.Result result(SharedAttempt attempt, int repeat) {
        SharedObjectsPlan plan = attempt.plan();
        SharedObjectsStrategy again = SharedStrategies.named(plan.strategy()).orElseThrow();
        return new PlanOutput.Result(
                attempt.name(),
                PlanOutput.SHARED_OBJECTS,
                plan.totalBytes(),
                millis(attempt.nanos(), repeat, plan, () -> again.plan(plan.problem())),
                attempt.valid(),
                Optional.of(plan.objectBytes()));
    }

    /** Plans repeatedly if requested; {@code plan} itself was the warm-up. */
    private static double millis(long nanos, int repeat, Object plan, Supplier<?> planner) {
        if (repeat == 1) {
            return rounded((double) nanos);
        }
        List<Long> times = new ArrayList<>();
        for (int i = 0; i < repeat; i++) {
            Stopwatch watch = Stopwatch.createStarted();
            Object again = planner.get();
            times.add(watch.elapsed(TimeUnit.NANOSECONDS));
            checkState(again.equals(plan), "planned differently: %s", plan);
        }
        return rounded(Quantiles.median().compute(times));
    }

    private static double rounded(double nanos) {
        return Math.round(nanos / 1e3) / 1e3;
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
            List<SharedObjectsStrategy> sharedObjects,
            boolean bestOnly,
            boolean search) {

        /** The name for all strategies. */
        static final String ALL = "all";

        Choice {
            offsets = ImmutableList.copyOf(offsets);
            sharedObjects = ImmutableList.copyOf(sharedObjects);
        }

        /**
         * Returns the choice for a name: {@link #ALL}, one strategy, or {@link Strategies#BEST}.
         *
         * @throws IllegalArgumentException if there is no such strategy; the message names the
         *     nearest
         */
        static Choice named(String name) {
            if (name.equals(ALL)) {
                return new Choice(Strategies.all(), SharedStrategies.all(), false, true);
            }
            Optional<SharedObjectsStrategy> shared = SharedStrategies.named(name);
            if (shared.isPresent()) {
                return new Choice(List.of(), List.of(shared.get()), false, false);
            }
            if (!Strategies.names().contains(name)) {
                throw new IllegalArgumentException(
                        "no strategy '%s'; did you mean '%s'?"
                                .formatted(name, Nearest.of(name, names())));
            }
            if (name.equals(new ExactSearch().name())) {
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
