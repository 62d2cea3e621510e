package org.djlplan.study.search;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.djlplan.memplan.internal.plan.Attempt;
import org.djlplan.memplan.internal.plan.Greedy;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.plan.PlanValidator;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.base.Stopwatch;
import org.djlplan.thirdparty.guava.util.concurrent.Uninterruptibles;

/**
 * Minimizes the arena by branch and bound. It starts from a known plan, always has the best plan so
 * far, and ends when that plan is proved minimal, fits the requested capacity, or a limit is
 * reached. The problem is NP-hard: the time is exponential in the worst case.
 *
 * <p>The cut into sections, the orders of candidates and the idea of searching plans that are
 * pushed down are those of MiniMalloc (Moffitt 2023, "MiniMalloc: A Lightweight Memory Allocator
 * for Hardware-Accelerated Machine Learning", ASPLOS). The branching is new: instead of the next
 * unit in order of offsets, the search decides which unit is the lowest of a section ({@link
 * CapacitySearch}).
 */
public final class ExactSearch {

    /** The search with a fixed effort. */
    public static final OffsetStrategy STRATEGY =
            new OffsetStrategy(
                    "exact-search",
                    2_000,
                    problem -> new ExactSearch().search(problem).plan().unitOffsets());

    /** Enough to prove the plans of real models minimal, in well under a second. */
    private static final long DEFAULT_NODES = 200_000;

    /** Each unit takes two stack frames of the search. */
    private static final long STACK_BYTES = 64L << 20;

    private final SearchLimits limits;

    /** Creates a search with a fixed effort, whose result is deterministic. */
    public ExactSearch() {
        this(SearchLimits.ofNodes(DEFAULT_NODES));
    }

    public ExactSearch(SearchLimits limits) {
        this.limits = limits;
    }

    /** Searches starting from the plan of {@link Greedy#BY_SIZE}. */
    public SearchResult search(PlanningProblem problem) {
        Map<Integer, Long> greedy = Greedy.BY_SIZE.plan(problem).unitOffsets();
        return improve(new OffsetPlan(STRATEGY.name(), problem, greedy));
    }

    /**
     * Searches for a smaller plan than {@code incumbent}; returns {@code incumbent} if there is
     * none. Ends early with its best plan if the calling thread is interrupted.
     *
     * @param incumbent a valid plan
     */
    public SearchResult improve(OffsetPlan incumbent) {
        PlanningProblem problem = incumbent.problem();
        List<UsageRecord> units = problem.units();
        long[] offsets =
                units.stream().mapToLong(unit -> incumbent.offsetOf(unit.tensor())).toArray();
        AtomicBoolean interrupted = new AtomicBoolean();
        BooleanSupplier late = deadline();
        Minimizer minimizer =
                new Minimizer(
                        new Sections(units),
                        LowerBounds.offsetBytes(units),
                        offsets,
                        limits,
                        () -> interrupted.get() || late.getAsBoolean());
        if (!minimizer.closed()) {
            run(minimizer, interrupted);
        }
        boolean better = minimizer.bestBytes() < incumbent.totalBytes();
        return new SearchResult(
                better ? plan(problem, minimizer.best()) : incumbent,
                minimizer.bestBytes() == minimizer.lowerBytes(),
                minimizer.lowerBytes(),
                minimizer.nodes());
    }

    private static OffsetPlan plan(PlanningProblem problem, long[] offsets) {
        Map<Integer, Long> byTensor = new HashMap<>();
        for (UsageRecord unit : problem.units()) {
            byTensor.put(unit.tensor(), offsets[byTensor.size()]);
        }
        return new OffsetPlan(STRATEGY.name(), problem, byTensor);
    }

    /**
     * Returns the result of a search that starts from the smallest valid attempt for the problem
     * with the lowest bound; empty if there is none, if the search does not support the problem, or
     * if the attempt is already minimal.
     *
     * @param attempts of other strategies
     * @param alignmentBytes required alignment of offsets
     */
    public Optional<Attempt> improve(List<Attempt> attempts, long alignmentBytes) {
        return attempts.stream()
                .filter(Attempt::valid)
                .min(
                        Comparator.comparingLong(Attempt::lowerBoundBytes)
                                .thenComparingLong(attempt -> attempt.plan().totalBytes()))
                .filter(best -> !best.provedMinimal() && STRATEGY.admits(best.plan().problem()))
                .map(best -> improve(best, alignmentBytes));
    }

    private Attempt improve(Attempt incumbent, long alignmentBytes) {
        Stopwatch watch = Stopwatch.createStarted();
        SearchResult result = improve(incumbent.plan());
        long nanos = watch.elapsed(TimeUnit.NANOSECONDS);
        OffsetPlan plan =
                new OffsetPlan(
                        STRATEGY.name(), result.plan().problem(), result.plan().unitOffsets());
        return new Attempt(
                plan,
                nanos,
                PlanValidator.violations(plan, alignmentBytes),
                result.lowerBoundBytes());
    }

    private void run(Minimizer minimizer, AtomicBoolean interrupted) {
        Thread thread = new Thread(null, minimizer, "djl-plan-search", STACK_BYTES);
        thread.setDaemon(true);
        thread.start();
        try {
            thread.join();
        } catch (InterruptedException e) {
            interrupted.set(true);
            Uninterruptibles.joinUninterruptibly(thread);
            Thread.currentThread().interrupt();
        }
    }

    private BooleanSupplier deadline() {
        if (limits.time().isEmpty()) {
            return () -> false;
        }
        long end = System.nanoTime() + limits.time().get().toNanos();
        return () -> System.nanoTime() - end >= 0;
    }
}
