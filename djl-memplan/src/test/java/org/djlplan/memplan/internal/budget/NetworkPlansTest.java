package org.djlplan.memplan.internal.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests streaming plans of well-known networks, with weights loaded from a disk and from the page
 * cache.
 */
class NetworkPlansTest {

    private static final double DISK = 1.5;
    private static final double PAGE_CACHE = 6;

    private static final long MOST_GARBAGE_BYTES = 15_000_000;

    /** Budgets as fractions, 1/n, of the network's size with every weight in its own place. */
    private static final List<Integer> FRACTIONS = List.of(16, 12, 10, 8, 6, 4, 3, 2, 1);

    private static final ImmutableList<Named<StreamingProblem>> NETWORKS =
            Stream.of(DISK, PAGE_CACHE)
                    .flatMap(
                            rate ->
                                    Stream.of(
                                            Named.of("resnet152 " + rate, Networks.resNet152(rate)),
                                            Named.of(
                                                    "resnet152, 520 operators " + rate,
                                                    Networks.resNet152(rate, true)),
                                            Named.of(
                                                    "vgg19 " + rate,
                                                    Networks.vgg19(rate, 32, 4_000_000))))
                    .collect(ImmutableList.toImmutableList());

    /** Plans, made once for all tests, by problem and fraction. */
    private static final IdentityHashMap<StreamingProblem, Map<Integer, Planned>> PLANNED =
            new IdentityHashMap<>();

    /** A plan, and the bytes that planning allocated on the heap. */
    private record Planned(StreamingPlan plan, long allocatedBytes) {}

    static Stream<Named<StreamingProblem>> networks() {
        return NETWORKS.stream();
    }

    @Test
    void networks_haveTheirKnownWeights() {
        assertEquals(241, Math.round(Networks.weightBytes(Networks.resNet152(DISK)) / 1e6));
        assertEquals(
                575, Math.round(Networks.weightBytes(Networks.vgg19(DISK, 1, 1L << 40)) / 1e6));
        assertEquals(156, Networks.resNet152(DISK).weights().size());
        assertEquals(518, Networks.resNet152(DISK, true).steps());
    }

    @ParameterizedTest
    @MethodSource("networks")
    void plan_largerBudgets_areHeldAndNoSlowerThanFlexNnNorThanSmallerOnes(StreamingProblem problem)
            throws BudgetTooSmallException {
        long wholeBytes = Networks.wholeBytes(problem);
        long before = Long.MAX_VALUE;
        for (int fraction : FRACTIONS) {
            long budgetBytes = wholeBytes / fraction;
            StreamingPlan plan = planned(problem, fraction).plan();
            Timeline timeline = Timeline.of(plan);
            Optional<StreamingPlan> flexNn = new FlexNnStrategy().plan(problem, budgetBytes);
            assertEquals(List.of(), StreamingValidator.violations(plan));
            assertTrue(plan.arenaBytes() <= budgetBytes);
            assertTrue(timeline.nanos() <= before);
            assertTrue(flexNn.isEmpty() || timeline.nanos() <= Timeline.of(flexNn.get()).nanos());
            before = timeline.nanos();
        }
        assertEquals(0, Timeline.of(planned(problem, 1).plan()).loadedBytes());
    }

    /** Even an arena without fragmentation, in which nothing is pinned, would hardly be faster. */
    @ParameterizedTest
    @MethodSource("networks")
    void plan_anyBudget_isCloseToWhatBytesAllow(StreamingProblem problem)
            throws BudgetTooSmallException {
        for (int fraction : FRACTIONS) {
            long budgetBytes = Networks.wholeBytes(problem) / fraction;
            Outcome bound =
                    new Unfragmented(problem, budgetBytes)
                            .outcome(new boolean[problem.weights().size()])
                            .orElseThrow();
            long nanos = Timeline.of(planned(problem, fraction).plan()).nanos();
            assertTrue(nanos <= 1.02 * bound.nanos(), () -> "1/" + fraction);
        }
    }

    /** If a plan made the heap grow, the heap would exceed the budget. */
    @ParameterizedTest
    @MethodSource("networks")
    void plan_searchOfManyLayouts_leavesLittleOnTheHeap(StreamingProblem problem)
            throws BudgetTooSmallException {
        for (int fraction : FRACTIONS) {
            Planned planned = planned(problem, fraction);
            assertTrue(
                    planned.allocatedBytes() < MOST_GARBAGE_BYTES,
                    () -> planned.plan().strategy() + ": " + planned.allocatedBytes());
        }
    }

    @ParameterizedTest
    @MethodSource("networks")
    void leastBudget_isTheBoundUpToRounding(StreamingProblem problem)
            throws BudgetTooSmallException {
        long leastBytes = StreamingPlanner.leastBudgetBytes(problem);
        assertTrue(leastBytes - BudgetBound.of(problem).bytes() < 16 * WeightUse.PAGE_BYTES);
        StreamingPlan plan = plan(problem, leastBytes);
        assertEquals(List.of(), StreamingValidator.violations(plan));
        assertEquals(leastBytes, plan.arenaBytes());
    }

    /** Returns the plan for the n-th part of the network's whole size. */
    private static Planned planned(StreamingProblem problem, int fraction)
            throws BudgetTooSmallException {
        Map<Integer, Planned> plans = PLANNED.computeIfAbsent(problem, unused -> new HashMap<>());
        Planned planned = plans.get(fraction);
        if (planned == null) {
            ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            long begin = threads.getCurrentThreadAllocatedBytes();
            StreamingPlan plan = plan(problem, Networks.wholeBytes(problem) / fraction);
            planned = new Planned(plan, threads.getCurrentThreadAllocatedBytes() - begin);
            plans.put(fraction, planned);
        }
        return planned;
    }

    private static StreamingPlan plan(StreamingProblem problem, long budgetBytes)
            throws BudgetTooSmallException {
        return new StreamingPlanner().plan(problem, budgetBytes, step -> "step " + step);
    }
}
