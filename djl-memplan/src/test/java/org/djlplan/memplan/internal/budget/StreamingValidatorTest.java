package org.djlplan.memplan.internal.budget;

import static org.djlplan.memplan.internal.budget.StreamingProblems.PAGE;
import static org.djlplan.memplan.internal.budget.StreamingProblems.activations;
import static org.djlplan.memplan.internal.budget.StreamingProblems.costs;
import static org.djlplan.memplan.internal.budget.StreamingProblems.uses;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Assume;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.djlplan.memplan.internal.budget.StreamingPlan.Load;
import org.djlplan.memplan.internal.budget.StreamingValidator.Rule;
import org.djlplan.memplan.internal.budget.StreamingValidator.Violation;
import org.junit.jupiter.api.Test;

class StreamingValidatorTest {

    /** One unit of a page in steps 0 and 1; a page of weights in each of the steps 0 to 2. */
    private static final StreamingProblem PROBLEM =
            new StreamingProblem(
                    activations(0, 1, 4096), uses(0, 0, 1, 1, 1, 1, 2, 2, 1), costs(10, 10, 10));

    private static final Map<Integer, Long> AT_ZERO = Map.of(0, 0L);

    private static Load load(int use, long page, int after) {
        return new Load(use, page * PAGE, after, false);
    }

    private static List<Violation> check(Map<Integer, Long> units, long pages, Load... loads) {
        return StreamingValidator.violations(
                new StreamingPlan("test", PROBLEM, units, List.of(loads), pages * PAGE));
    }

    private static List<Violation> check(long pages, Load... loads) {
        return check(AT_ZERO, pages, loads);
    }

    private static Violation violation(Rule rule, String reason) {
        return new Violation(rule, reason);
    }

    @Test
    void violations_placesReusedOnceFree_none() {
        assertEquals(List.of(), check(3, load(0, 1, 0), load(1, 2, 0), load(2, 1, 1)));
        assertEquals(List.of(), check(2, load(0, 1, 0), load(1, 1, 1), load(2, 0, 2)));
    }

    @Test
    void violations_loadMayBeginWhileItsPlaceIsUsed_isAnOverlap() {
        assertEquals(
                List.of(violation(Rule.OVERLAP, "use 0 and use 1 overlap in step 0")),
                check(2, load(0, 1, 0), load(1, 1, 0), load(2, 0, 2)));
        assertEquals(
                List.of(violation(Rule.OVERLAP, "unit 0 and use 2 overlap in step 1")),
                check(3, load(0, 1, 0), load(1, 2, 1), load(2, 0, 1)));
    }

    @Test
    void violations_pieceOverwrittenBeforeItsLastStep_isAnOverlap() {
        assertEquals(
                List.of(violation(Rule.OVERLAP, "use 2 and use 1 overlap in step 1")),
                check(3, load(0, 1, 0), load(1, 2, 1), load(2, 2, 0)));
    }

    @Test
    void violations_pinned_ownsItsPlaceInEveryStep() {
        Load pinned = new Load(0, PAGE, 0, true);
        assertEquals(List.of(), check(3, pinned, load(1, 2, 0), load(2, 2, 2)));
        assertEquals(
                List.of(violation(Rule.OVERLAP, "use 0 and use 2 overlap in step 2")),
                check(3, pinned, load(1, 2, 0), load(2, 1, 2)));
    }

    @Test
    void violations_loadWaitsForAStepThatNeedsIt_isADeadlock() {
        assertEquals(
                List.of(violation(Rule.DEADLOCK, "use 1 waits for step 1, and step 1 for it")),
                check(3, load(0, 1, 0), load(1, 2, 2), load(2, 1, 2)));
    }

    @Test
    void violations_loadWaitsInFrontOfOneThatIsNeededEarlier_isADeadlock() {
        assertEquals(
                List.of(violation(Rule.DEADLOCK, "use 2 waits for step 1, and step 1 for it")),
                check(3, load(0, 1, 0), load(2, 0, 2), load(1, 2, 0)));
        assertEquals(List.of(), check(4, load(0, 1, 0), load(2, 3, 0), load(1, 2, 1)));
    }

    @Test
    void violations_missing_isNamed() {
        assertEquals(
                List.of(violation(Rule.MISSING, "use 1 has no load")),
                check(3, load(0, 1, 0), load(2, 2, 0)));
        assertEquals(
                List.of(violation(Rule.MISSING, "unit 0 has no offset")),
                check(Map.of(), 3, load(0, 0, 0), load(1, 1, 0), load(2, 2, 0)));
    }

    @Test
    void violations_unknown_isNamed() {
        assertEquals(
                List.of(violation(Rule.UNKNOWN, "there is no use 3")),
                check(4, load(0, 1, 0), load(1, 2, 0), load(2, 3, 0), load(3, 3, 0)));
        assertEquals(
                List.of(violation(Rule.UNKNOWN, "use 2 is loaded again")),
                check(4, load(0, 1, 0), load(1, 2, 0), load(2, 3, 0), load(2, 3, 0)));
        assertEquals(
                List.of(violation(Rule.UNKNOWN, "there is no unit 7")),
                check(Map.of(0, 0L, 7, 0L), 4, load(0, 1, 0), load(1, 2, 0), load(2, 3, 0)));
    }

    @Test
    void violations_misaligned_isNamed() {
        assertEquals(
                List.of(violation(Rule.MISALIGNED, "unit 0 lies at 32, no multiple of 64")),
                check(Map.of(0, 32L), 5, load(0, 2, 0), load(1, 3, 0), load(2, 4, 0)));
        assertEquals(
                List.of(violation(Rule.MISALIGNED, "use 1 lies at 8256, no multiple of 4096")),
                check(5, load(0, 1, 0), new Load(1, 8256, 0, false), load(2, 4, 0)));
    }

    @Test
    void violations_outsideTheArena_isNamed() {
        assertEquals(
                List.of(
                        violation(
                                Rule.OUTSIDE_ARENA,
                                "use 2 lies from 12288 to 16384 in an arena of 12288")),
                check(3, load(0, 1, 0), load(1, 2, 0), load(2, 3, 0)));
        assertEquals(
                List.of(
                        violation(
                                Rule.OUTSIDE_ARENA,
                                "unit 0 lies from -64 to 4032 in an arena of 16384")),
                check(Map.of(0, -64L), 4, load(0, 1, 0), load(1, 2, 0), load(2, 3, 0)));
    }

    @Test
    void violations_endOverflows_isOutsideTheArena() {
        long far = Long.MAX_VALUE / PAGE * PAGE;
        List<Violation> found = check(3, load(0, 1, 0), load(1, 2, 0), new Load(2, far, 0, false));
        assertEquals(List.of(Rule.OUTSIDE_ARENA), found.stream().map(Violation::rule).toList());
    }

    @Test
    void violations_manyAtOnePlace_endsEarly() {
        List<WeightUse> uses = new ArrayList<>();
        List<Load> loads = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            uses.add(new WeightUse(i, 0, 0, PAGE));
            loads.add(load(i, 0, 0));
        }
        StreamingProblem problem = new StreamingProblem(activations(), uses, costs(1));
        assertEquals(
                StreamingValidator.MOST_VIOLATIONS,
                StreamingValidator.violations(
                                new StreamingPlan("test", problem, Map.of(), loads, PAGE))
                        .size());
    }

    /** Every load of a tight plan waits exactly until its place is free. */
    @Property(tries = 200)
    void violations_loadThatWaitsForOneStepLess_isFound(
            @ForAll("problems") StreamingProblem problem, @ForAll int chosen) {
        long leastBytes = StreamingPlanner.leastBudgetBytes(problem);
        StreamingPlan plan = new TightestStrategy().plan(problem, leastBytes).orElseThrow();
        List<Load> loads = new ArrayList<>(plan.loads());
        List<Load> waiting = loads.stream().filter(load -> load.after() > 0).toList();
        Assume.that(!waiting.isEmpty());
        Load load = waiting.get(Math.floorMod(chosen, waiting.size()));
        loads.set(
                loads.indexOf(load),
                new Load(load.use(), load.offsetBytes(), load.after() - 1, false));
        StreamingPlan mutant =
                new StreamingPlan(
                        "mutant", problem, plan.activationOffsets(), loads, plan.arenaBytes());
        assertEquals(List.of(), StreamingValidator.violations(plan));
        assertFalse(StreamingValidator.violations(mutant).isEmpty());
    }

    @Provide
    Arbitrary<StreamingProblem> problems() {
        return Arbitraries.lazyOf(StreamingProblems::any);
    }
}
