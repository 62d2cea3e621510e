package org.djlplan.memplan.internal.budget;

import static org.djlplan.memplan.internal.budget.StreamingProblems.PAGE;
import static org.djlplan.memplan.internal.budget.StreamingProblems.activations;
import static org.djlplan.memplan.internal.budget.StreamingProblems.costs;
import static org.djlplan.memplan.internal.budget.StreamingProblems.uses;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.budget.StreamingPlan.Load;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.junit.jupiter.api.Test;

class StreamingPlannerTest {

    private static final List<StreamingStrategy> STRATEGIES =
            List.of(new LookAheadStrategy(), new FlexNnStrategy(), new TightestStrategy());

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

    @Test
    void bound_isTheBreadthOfTheWidestStep() {
        assertEquals(new BudgetBound(4 * PAGE, 1), BudgetBound.of(CHAIN));
        StreamingProblem nothing = new StreamingProblem(activations(), uses(), costs());
        assertEquals(new BudgetBound(0, -1), BudgetBound.of(nothing));
    }

    @Test
    void leastBudget_ofAChain_isTheBound() {
        assertEquals(4 * PAGE, StreamingPlanner.leastBudgetBytes(CHAIN));
    }

    @Test
    void plan_leastBudget_waitsForRoom() throws BudgetTooSmallException {
        StreamingPlan plan = plan(CHAIN, 4 * PAGE);
        // Step 1 needs the whole arena, so its piece waits for step 0, and the last piece for step
        // 1.
        assertEquals(List.of(0, 1, 2), plan.loads().stream().map(Load::after).toList());
        Timeline timeline = Timeline.of(plan);
        assertEquals(150, timeline.nanos());
        assertEquals(60, timeline.stallNanos());
        assertEquals(4 * PAGE, timeline.peakBytes());
        assertEquals(6 * PAGE, timeline.loadedBytes());
    }

    @Test
    void plan_roomForOnePieceMore_waitsForOneLoadOnly() throws BudgetTooSmallException {
        Timeline timeline = Timeline.of(plan(CHAIN, 6 * PAGE));
        assertEquals(20, timeline.stallNanos());
        // Any plan waits for one load; pinning the first piece saves the load of its bytes.
        assertEquals(4 * PAGE, timeline.loadedBytes());
    }

    @Test
    void plan_roomForEverything_pinsAll() throws BudgetTooSmallException {
        StreamingPlan plan = plan(CHAIN, 8 * PAGE);
        assertEquals(0, Timeline.of(plan).loadedBytes());
        assertTrue(plan.loads().stream().allMatch(Load::pinned));
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
    void plan_withoutActivations_onlyPiecesArePlaced() throws BudgetTooSmallException {
        StreamingProblem problem =
                new StreamingProblem(
                        activations(), uses(0, 0, 3, 1, 1, 2, 2, 2, 3), costs(90, 90, 90));
        StreamingPlan plan = plan(problem, 5 * PAGE);
        assertEquals(List.of(), StreamingValidator.violations(plan));
        assertEquals(3, plan.loads().size());
        assertTrue(plan.activationOffsets().isEmpty());
    }

    @Test
    void plan_withoutWeights_placesActivations() throws BudgetTooSmallException {
        StreamingProblem problem =
                new StreamingProblem(activations(0, 1, 64, 1, 2, 64), uses(), costs(1, 1, 1));
        assertEquals(PAGE, plan(problem, PAGE).arenaBytes());
    }

    @Property(tries = 300)
    void plan_anyStrategyAndBudget_isValidAndRuns(
            @ForAll("problems") StreamingProblem problem,
            @ForAll @IntRange(max = 60) int morePages,
            @ForAll long seed) {
        long budgetBytes = StreamingPlanner.leastBudgetBytes(problem) + morePages * PAGE;
        for (StreamingStrategy strategy : STRATEGIES) {
            Optional<StreamingPlan> plan = strategy.plan(problem, budgetBytes);
            if (plan.isPresent()) {
                assertEquals(List.of(), StreamingValidator.violations(plan.get()));
                assertTrue(plan.get().arenaBytes() <= budgetBytes);
                assertTrue(Timeline.of(plan.get()).peakBytes() <= plan.get().arenaBytes());
                new Run(plan.get(), seed).run();
            }
        }
    }

    @Property(tries = 200)
    void plan_fromTheLeastBudgetOn_isFoundAndNoWorseThanFlexNn(
            @ForAll("problems") StreamingProblem problem, @ForAll @IntRange(max = 60) int morePages)
            throws BudgetTooSmallException {
        long budgetBytes = StreamingPlanner.leastBudgetBytes(problem) + morePages * PAGE;
        StreamingPlan plan = plan(problem, budgetBytes);
        assertEquals(List.of(), StreamingValidator.violations(plan));
        Optional<StreamingPlan> flexNn = new FlexNnStrategy().plan(problem, budgetBytes);
        assertTrue(
                flexNn.isEmpty() || Timeline.of(plan).nanos() <= Timeline.of(flexNn.get()).nanos());
        StreamingPlan again = plan(problem, budgetBytes);
        assertEquals(plan, again);
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
                    .forEach(smaller -> assertFalse(smaller.betterThan(outcome)));
            before.put(pages, outcome);
        }
    }

    /**
     * The smaller budget's plan is made again, because no better plan is found for the larger one.
     */
    @Test
    void plan_worsePlanForLargerBudget_reusesSmallerBudgetsPlan() throws BudgetTooSmallException {
        StreamingStrategy unlucky =
                new StreamingStrategy() {
                    @Override
                    public String name() {
                        return "unlucky";
                    }

                    @Override
                    public Optional<StreamingPlan> plan(
                            StreamingProblem problem, long budgetBytes) {
                        return budgetBytes > 6 * PAGE
                                ? new TightestStrategy().plan(problem, 4 * PAGE)
                                : new LookAheadStrategy().plan(problem, budgetBytes);
                    }
                };
        StreamingPlanner planner = new StreamingPlanner(List.of(unlucky));
        StreamingPlan alone = planner.plan(CHAIN, 7 * PAGE, Integer::toString);
        StreamingPlan less = planner.plan(CHAIN, 6 * PAGE, Integer::toString);
        assertTrue(Outcome.of(less).betterThan(Outcome.of(alone)));
        assertEquals(less, planner.plan(CHAIN, 7 * PAGE, Integer::toString));
        StreamingProblem slower =
                new StreamingProblem(CHAIN.activations(), CHAIN.weights(), costs(30, 30, 31));
        assertEquals(
                unlucky.plan(slower, 7 * PAGE),
                Optional.of(planner.plan(slower, 7 * PAGE, Integer::toString)),
                "another problem");
    }

    @Property(tries = 200)
    void plan_belowTheBound_isRefused(@ForAll("problems") StreamingProblem problem) {
        BudgetBound bound = BudgetBound.of(problem);
        BudgetTooSmallException thrown =
                assertThrows(BudgetTooSmallException.class, () -> plan(problem, bound.bytes() - 1));
        assertTrue(thrown.leastBytes() >= bound.bytes());
    }

    @Provide
    Arbitrary<StreamingProblem> problems() {
        return StreamingProblems.any().filter(problem -> BudgetBound.of(problem).bytes() > 0);
    }

    /**
     * Executes a plan twice in a row, with loads and steps in any order that the plan admits. It
     * records an owner for each 64 bytes of the arena, and so checks at each step that the arena
     * holds the step's data.
     */
    private static final class Run {

        private final StreamingPlan plan;
        private final StreamingProblem problem;
        private final Random random;
        private final int[] arena;

        Run(StreamingPlan plan, long seed) {
            this.plan = plan;
            problem = plan.problem();
            random = new Random(seed);
            arena = new int[(int) (plan.arenaBytes() / 64)];
        }

        void run() {
            plan.loads().stream().filter(Load::pinned).forEach(this::load);
            for (int inference = 0; inference < 2; inference++) {
                List<Load> loads = plan.loads().stream().filter(l -> !l.pinned()).toList();
                int next = 0;
                for (int step = 0; step < problem.steps(); ) {
                    boolean mayLoad = next < loads.size() && loads.get(next).after() <= step;
                    boolean mayRun = ready(loads, next, step);
                    assertTrue(mayLoad || mayRun, "deadlock at step " + step);
                    if (mayLoad && (!mayRun || random.nextBoolean())) {
                        load(loads.get(next++));
                        // The load may have begun before the step that has run since.
                    } else {
                        runStep(step++);
                    }
                }
            }
        }

        private boolean ready(List<Load> loads, int next, int step) {
            return loads.subList(next, loads.size()).stream()
                    .noneMatch(load -> problem.weights().get(load.use()).first() == step);
        }

        private void load(Load load) {
            fill(load.offsetBytes(), problem.weights().get(load.use()).bytes(), name(load));
        }

        private void runStep(int step) {
            for (UsageRecord unit : problem.activations().units()) {
                if (unit.first() == step) {
                    fill(offset(unit), unit.bytes(), -1 - unit.tensor());
                }
            }
            for (UsageRecord unit : problem.activations().units()) {
                if (unit.first() <= step && step <= unit.last()) {
                    check(offset(unit), unit.bytes(), -1 - unit.tensor());
                }
            }
            for (Load load : plan.loads()) {
                WeightUse use = problem.weights().get(load.use());
                if (use.first() <= step && step <= use.last()) {
                    check(load.offsetBytes(), use.bytes(), name(load));
                }
            }
        }

        private long offset(UsageRecord unit) {
            return plan.activationOffsets().get(unit.tensor());
        }

        private static int name(Load load) {
            return load.use() + 1;
        }

        private void fill(long offset, long bytes, int name) {
            Arrays.fill(arena, (int) (offset / 64), (int) ((offset + bytes) / 64), name);
        }

        private void check(long offset, long bytes, int name) {
            for (long at = offset; at < offset + bytes; at += 64) {
                assertEquals(name, arena[(int) (at / 64)], "owner of byte " + at);
            }
        }
    }
}
