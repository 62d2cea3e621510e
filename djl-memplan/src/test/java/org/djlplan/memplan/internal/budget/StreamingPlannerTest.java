package org.djlplan.memplan.internal.budget;

import static org.djlplan.memplan.internal.budget.StreamingProblems.PAGE;
import static org.djlplan.memplan.internal.budget.StreamingProblems.activations;
import static org.djlplan.memplan.internal.budget.StreamingProblems.costs;
import static org.djlplan.memplan.internal.budget.StreamingProblems.uses;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.budget.StreamingPlan.Load;
import org.djlplan.memplan.internal.budget.Timeline.Outcome;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class StreamingPlannerTest {

    /** Limit of the predicted time relative to an arena without fragmentation. */
    private static final double CLOSE = 1.03;

    private static final long MOST_GARBAGE_BYTES = 15_000_000;

    /** Budgets as fractions, 1/n, of the network's size with every weight in its own place. */
    private static final List<Integer> FRACTIONS = List.of(16, 12, 10, 8, 6, 4, 3, 2, 1);

    /** Three steps, each with two pages of weights (20 ns) and 30 ns of work; a page between. */
    private static final StreamingProblem CHAIN =
            new StreamingProblem(
                    activations(0, 1, 4096, 1, 2, 4096),
                    uses(0, 0, 2, 1, 1, 2, 2, 2, 2),
                    costs(30, 30, 30));

    private static StreamingPlan plan(StreamingProblem problem, long budgetBytes)
            throws BudgetTooSmallException {
        return new StreamingPlanner().plan(problem, budgetBytes, step -> "operator " + step);
    }

    /**
     * In four pages step 1 needs the whole arena, so each load waits for the step before. In six,
     * any plan waits for one load; the first piece is pinned, which saves the load of its bytes. In
     * eight, everything is pinned.
     */
    @ParameterizedTest
    @CsvSource({"4, 150, 60, 6", "6, 110, 20, 4", "8, 90, 0, 0"})
    void plan_chain_waitsAndLoadsNoMoreThanItMust(int pages, long nanos, long stalled, int loaded)
            throws BudgetTooSmallException {
        StreamingPlan plan = plan(CHAIN, pages * PAGE);
        Timeline timeline = Timeline.of(plan);
        assertTrue(plan.isValid() && plan.arenaBytes() <= pages * PAGE, plan.toString());
        assertEquals(nanos, timeline.nanos());
        assertEquals(stalled, timeline.stallNanos());
        assertEquals(loaded * PAGE, timeline.loadedBytes());
        assertEquals((6 - loaded) * PAGE, plan.pinnedBytes());
    }

    @Test
    void plan_budgetTooSmall_namesOperatorAndMinimum() {
        BudgetTooSmallException thrown =
                assertThrows(BudgetTooSmallException.class, () -> plan(CHAIN, 4 * PAGE - 1));
        assertEquals(4 * PAGE, thrown.leastBytes());
        assertEquals(
                "operator 1 alone needs 0.1 MB for its weights, activations and temporaries",
                thrown.getMessage());
    }

    @Test
    void plan_withoutWeightsOrActivations_placesTheRest() throws BudgetTooSmallException {
        StreamingProblem weights =
                new StreamingProblem(
                        activations(), uses(0, 0, 3, 1, 1, 2, 2, 2, 3), costs(90, 90, 90));
        assertEquals(3, plan(weights, 5 * PAGE).loads().size());
        StreamingProblem tensors =
                new StreamingProblem(activations(0, 1, 64, 1, 2, 64), uses(), costs(1, 1, 1));
        assertEquals(2 * PAGE, plan(tensors, 2 * PAGE).arenaBytes());
        StreamingProblem nothing = new StreamingProblem(activations(), uses(), costs());
        assertEquals(0, plan(nothing, PAGE).arenaBytes());
    }

    private static StreamingPlan chainPlan(
            long arenaPages, long first, long second, Load... loads) {
        return new StreamingPlan(
                "by hand", CHAIN, Map.of(0, first, 1, second), List.of(loads), arenaPages * PAGE);
    }

    private static Load load(int use, int page, int after) {
        return new Load(use, page * PAGE, after, false);
    }

    @Test
    void isValid_brokenPlans_areNot() {
        Load[] good = {load(0, 1, 0), load(1, 2, 1), load(2, 1, 2)};
        assertTrue(chainPlan(5, 0, 4 * PAGE, good).isValid());
        assertFalse(chainPlan(4, 0, 4 * PAGE, good).isValid(), "outside of the arena");
        assertFalse(chainPlan(5, 0, 3 * PAGE, good).isValid(), "in one place");
        assertFalse(chainPlan(5, 1, 4 * PAGE, good).isValid(), "not aligned");
        Load early = load(2, 1, 1);
        assertFalse(chainPlan(5, 0, 4 * PAGE, good[0], good[1], early).isValid(), "too early");
        Load late = load(2, 1, 3);
        assertFalse(chainPlan(5, 0, 4 * PAGE, good[0], good[1], late).isValid(), "waits for ever");
        Load pinned = new Load(2, PAGE, 0, true);
        assertFalse(chainPlan(5, 0, 4 * PAGE, good[0], good[1], pinned).isValid(), "stays");
        assertThrows(IllegalArgumentException.class, () -> new Load(0, 1, 0, false));
        assertThrows(IllegalArgumentException.class, () -> chainPlan(5, 0, 4 * PAGE, good[0]));
    }

    static Stream<Named<StreamingProblem>> networks() {
        return Stream.of(1.5, 6.0)
                .flatMap(
                        rate ->
                                Stream.of(
                                        Named.of("resnet152 " + rate, Networks.resNet152(rate)),
                                        Named.of(
                                                "resnet152, 520 operators " + rate,
                                                Networks.resNet152(rate, true)),
                                        Named.of(
                                                "vgg19 " + rate,
                                                Networks.vgg19(rate, 32, 4_000_000))));
    }

    /**
     * Even an arena without fragmentation, in which nothing is pinned, would hardly be faster. If a
     * plan made the heap grow, the heap would exceed the budget.
     */
    @ParameterizedTest
    @MethodSource("networks")
    void plan_networkInManyBudgets_isCloseToWhatBytesAllowAndLeavesLittleOnTheHeap(
            StreamingProblem problem) throws BudgetTooSmallException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        int uses = problem.weights().size();
        LookAhead window =
                new LookAhead(problem.weights(), problem.activationBytes(), new int[uses]);
        StreamingPlanner planner = new StreamingPlanner();
        long before = Long.MAX_VALUE;
        for (int fraction : FRACTIONS) {
            long budgetBytes = Networks.wholeBytes(problem) / fraction;
            long allocated = threads.getCurrentThreadAllocatedBytes();
            StreamingPlan plan = planner.plan(problem, budgetBytes, Integer::toString);
            allocated = threads.getCurrentThreadAllocatedBytes() - allocated;
            assertTrue(allocated < MOST_GARBAGE_BYTES, "1/" + fraction + ": " + allocated);
            assertTrue(plan.isValid() && plan.arenaBytes() <= budgetBytes);
            boolean[] none = new boolean[uses];
            long boundNanos =
                    Outcome.of(problem, none, window.after(none, budgetBytes).orElseThrow())
                            .nanos();
            long nanos = Timeline.of(plan).nanos();
            assertTrue(nanos <= CLOSE * boundNanos, "1/" + fraction + ": " + nanos);
            assertTrue(nanos <= before, "1/" + fraction + ": " + nanos);
            before = nanos;
            assertTrue(fraction > 1 || Timeline.of(plan).loadedBytes() == 0);
        }
        long leastBytes = StreamingPlanner.leastBudgetBytes(problem);
        assertTrue(leastBytes - problem.bound().bytes() < 16 * PAGE);
        assertEquals(leastBytes, plan(problem, leastBytes).arenaBytes());
    }

    @Property(tries = 300)
    void plan_anyBudget_isValidAndTheSameAgain(
            @ForAll("problems") StreamingProblem problem, @ForAll @IntRange(max = 60) int morePages)
            throws BudgetTooSmallException {
        long budgetBytes = StreamingPlanner.leastBudgetBytes(problem) + morePages * PAGE;
        StreamingPlan plan = plan(problem, budgetBytes);
        assertTrue(plan.isValid() && plan.arenaBytes() <= budgetBytes);
        assertEquals(plan, plan(problem, budgetBytes));
        long tooSmall = problem.bound().bytes() - 1;
        BudgetTooSmallException thrown =
                assertThrows(BudgetTooSmallException.class, () -> plan(problem, tooSmall));
        assertTrue(thrown.leastBytes() > tooSmall);
    }

    /** Budgets may be requested in any order. */
    @Property(tries = 200)
    void plan_largerBudgetThanOneBefore_isNoWorse(
            @ForAll("problems") StreamingProblem problem,
            @ForAll @Size(min = 2, max = 12) List<@IntRange(max = 60) Integer> morePages)
            throws BudgetTooSmallException {
        StreamingPlanner planner = new StreamingPlanner();
        long leastBytes = StreamingPlanner.leastBudgetBytes(problem);
        TreeMap<Integer, Outcome> before = new TreeMap<>();
        for (int pages : morePages) {
            long budgetBytes = leastBytes + pages * PAGE;
            StreamingPlan plan = planner.plan(problem, budgetBytes, Integer::toString);
            Outcome outcome = Outcome.of(plan);
            assertTrue(plan.arenaBytes() <= budgetBytes);
            before.headMap(pages, true)
                    .values()
                    .forEach(smaller -> assertTrue(smaller.compareTo(outcome) >= 0));
            before.put(pages, outcome);
        }
    }

    @Provide
    Arbitrary<StreamingProblem> problems() {
        return StreamingProblems.any().filter(problem -> problem.bound().bytes() > 0);
    }
}
