package org.djlplan.memplan.cli;

import static com.google.common.base.Preconditions.checkState;

import com.google.common.base.Stopwatch;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.Iterables;
import com.google.common.math.Quantiles;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.plan.OffsetStrategy;
import org.djlplan.memplan.plan.portfolio.Attempt;
import org.djlplan.memplan.plan.portfolio.Portfolio;
import org.djlplan.memplan.plan.portfolio.Strategies;
import org.djlplan.memplan.plan.search.ExactSearch;
import org.djlplan.memplan.plan.search.SearchLimits;
import org.djlplan.memplan.study.shared.EndToEnd;
import org.djlplan.memplan.study.shared.SharedAttempt;
import org.djlplan.memplan.study.shared.SharedObjectsPlan;
import org.djlplan.memplan.study.shared.SharedObjectsPortfolio;
import org.djlplan.memplan.study.shared.SharedObjectsStrategy;
import org.djlplan.memplan.study.shared.SharedStrategies;
import org.djlplan.memplan.usage.LowerBounds;
import org.djlplan.memplan.usage.UsageRecord;
import org.djlplan.memplan.usage.UsageRecords;

/**
 * What the chosen strategies made of an input.
 *
 * @param input what was planned
 * @param offsets plans of one arena, one per strategy and variant
 * @param sharedObjects plans of shared objects, likewise
 */
record PlanRun(PlanInput input, List<Attempt> offsets, List<SharedAttempt> sharedObjects) {

    PlanRun {
        offsets = ImmutableList.copyOf(offsets);
        sharedObjects = ImmutableList.copyOf(sharedObjects);
    }

    /**
     * Plans.
     *
     * @param limits of the search for a smaller plan than those that the strategies found; empty
     *     for none
     */
    static PlanRun of(PlanInput input, StrategyChoice choice, Optional<SearchLimits> limits) {
        Portfolio portfolio = new Portfolio(choice.offsets(), input.alignmentBytes());
        List<Attempt> attempts = portfolio.attempts(input.variants());
        Optional<Attempt> searched =
                limits.filter(each -> choice.search())
                        .flatMap(each -> portfolio.searched(attempts, new ExactSearch(each)));
        return new PlanRun(
                input,
                Stream.concat(attempts.stream(), searched.stream()).toList(),
                new SharedObjectsPortfolio(choice.sharedObjects()).attempts(input.variants()));
    }

    /**
     * Returns the smallest plan of one arena; if only shared objects were planned, the smallest of
     * these laid end to end. Empty if no plan is valid.
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
     * Returns what to tell.
     *
     * @param bestOnly whether only the best plan is to be listed
     * @param repeat how often to plan again for a median time; 1 for the first time as it was
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

    private static PlanOutput.Result result(Attempt attempt, int repeat) {
        OffsetPlan plan = attempt.plan();
        OffsetStrategy again = Strategies.named(plan.strategy()).get(0);
        int times = again instanceof ExactSearch ? 1 : repeat;
        return new PlanOutput.Result(
                attempt.name(),
                PlanOutput.OFFSETS,
                plan.totalBytes(),
                millis(attempt.nanos(), times, plan, () -> again.plan(plan.problem())),
                attempt.valid());
    }

    private static PlanOutput.Result result(SharedAttempt attempt, int repeat) {
        SharedObjectsPlan plan = attempt.plan();
        SharedObjectsStrategy again = SharedStrategies.named(plan.strategy()).orElseThrow();
        return new PlanOutput.Result(
                attempt.name(),
                PlanOutput.SHARED_OBJECTS,
                plan.totalBytes(),
                millis(attempt.nanos(), repeat, plan, () -> again.plan(plan.problem())),
                attempt.valid());
    }

    /** Plans again and again if asked to; {@code plan} itself was the warm-up. */
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
}
