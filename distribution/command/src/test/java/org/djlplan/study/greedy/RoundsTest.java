package org.djlplan.study.greedy;

import static org.djlplan.memplan.testing.Vectors.records;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.plan.PlanValidator;
import org.djlplan.memplan.internal.plan.greedy.GreedyBySize;
import org.djlplan.memplan.internal.usage.Conflicts;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.testing.Problems;
import org.djlplan.memplan.testing.Vectors;
import org.djlplan.thirdparty.guava.collect.Iterables;
import org.junit.jupiter.api.Test;

class RoundsTest {

    private static Rounds.Round round(int operator, UsageRecord... records) {
        return new Rounds.Round(operator, new PlanningProblem(List.of(records)));
    }

    private static List<Long> arenaBytes(List<OffsetPlan> plans) {
        return plans.stream().map(OffsetPlan::totalBytes).toList();
    }

    @Test
    void plan_paperExampleWithSizesResolvedByOperator5_isLargerThanOffline() {
        // Tensors 5 to 7 are the outputs of operators 5 to 7, whose sizes operator 5 resolves.
        PlanningProblem early = new PlanningProblem(Vectors.PISARCHYK.subList(0, 5));
        PlanningProblem late = new PlanningProblem(Vectors.PISARCHYK.subList(5, 8));
        List<OffsetPlan> plans =
                Rounds.plan(List.of(new Rounds.Round(0, early), new Rounds.Round(5, late)));
        // 36, 28, 16 and 8 lie on top of each other. 64 overlaps all but the second, whose place of
        // 28 is too small, so it goes behind them; the offline plan puts it below.
        assertEquals(List.of(88L, 152L), arenaBytes(plans));
        assertEquals(124, new GreedyBySize().plan(plans.get(1).problem()).totalBytes());
        assertEquals(List.of(), PlanValidator.violations(plans.get(1), 1));
        for (UsageRecord record : early.records()) {
            assertEquals(
                    plans.get(0).offsetOf(record.tensor()), plans.get(1).offsetOf(record.tensor()));
        }
    }

    @Test
    void first_conflictsBesideIntervals_isRejected() {
        PlanningProblem known =
                new PlanningProblem(records(0, 1, 64, 2, 3, 32))
                        .withConflicts(new Conflicts.Builder().add(0, 1).build());
        assertThrows(IllegalArgumentException.class, () -> Rounds.first(known));
        assertThrows(IllegalArgumentException.class, () -> new Rounds.Round(0, known));
    }

    @Test
    void next_afterAPlanWithConflictsBesideIntervals_isRejected() {
        PlanningProblem placed =
                new PlanningProblem(records(0, 1, 64, 2, 3, 32))
                        .withConflicts(new Conflicts.Builder().add(0, 1).build());
        OffsetPlan plan = new OffsetPlan("", placed, Map.of(0, 0L, 1, 64L));
        Rounds.Round round = round(4, new UsageRecord(2, 4, 5, 48));
        assertThrows(IllegalArgumentException.class, () -> Rounds.next(plan, round));
    }

    @Test
    void next_tensorsThatHaveEnded_leaveTheirPlaces() {
        OffsetPlan plan = Rounds.first(new PlanningProblem(records(0, 1, 64, 1, 4, 32)));
        plan = Rounds.next(plan, round(2, new UsageRecord(2, 2, 3, 48)));
        assertEquals(0, plan.offsetOf(2));
        assertEquals(96, plan.totalBytes());
    }

    @Test
    void next_placedButNotYetAlive_staysWhereItIs() {
        OffsetPlan plan = Rounds.first(new PlanningProblem(records(0, 1, 16, 6, 7, 32)));
        plan = Rounds.next(plan, round(1, new UsageRecord(2, 1, 7, 64)));
        assertEquals(0, plan.offsetOf(1));
        assertEquals(32, plan.offsetOf(2));
    }

    @Test
    void next_tensorThatHasAPlace_isAnError() {
        OffsetPlan plan = Rounds.first(new PlanningProblem(records(0, 1, 16)));
        Rounds.Round again = round(1, new UsageRecord(0, 1, 2, 16));
        assertThrows(IllegalArgumentException.class, () -> Rounds.next(plan, again));
    }

    @Test
    void round_tensorUsedBeforeItsSizeIsKnown_isAnError() {
        UsageRecord record = new UsageRecord(0, 3, 4, 16);
        assertEquals(3, round(3, record).operator());
        assertThrows(IllegalArgumentException.class, () -> round(4, record));
        assertThrows(IllegalArgumentException.class, () -> round(-1, record));
    }

    @Test
    void strategy_sizesKnownAtOperator5_plansLikeTheRounds() {
        PlanningProblem problem = new PlanningProblem(Vectors.PISARCHYK);
        OffsetPlan plan = Rounds.strategy(Map.of(5, 5, 6, 5, 7, 5)).plan(problem);
        assertEquals(152, plan.totalBytes());
        assertEquals(problem.records(), plan.problem().records());
        assertEquals(
                new GreedyBySize().plan(problem).unitOffsets(),
                Rounds.strategy(Map.of()).plan(problem).unitOffsets());
        OffsetStrategy late = Rounds.strategy(Map.of(0, 1));
        assertThrows(IllegalArgumentException.class, () -> late.plan(problem));
    }

    @Test
    void plan_roundsOutOfOrder_isAnError() {
        List<Rounds.Round> rounds =
                List.of(round(3, new UsageRecord(0, 3, 4, 16)), round(2, record(1, 2)));
        assertThrows(IllegalArgumentException.class, () -> Rounds.plan(rounds));
    }

    private static UsageRecord record(int tensor, int first) {
        return new UsageRecord(tensor, first, first + 1, 16);
    }

    @Test
    void plan_noRounds_isNothing() {
        assertEquals(List.of(), Rounds.plan(List.of()));
        assertEquals(0, Rounds.first(new PlanningProblem(List.of())).totalBytes());
    }

    @Test
    void next_arenaOverflows_isAnError() {
        OffsetPlan plan =
                Rounds.first(
                        new PlanningProblem(List.of(new UsageRecord(0, 0, 1, Long.MAX_VALUE))));
        Rounds.Round more = round(1, new UsageRecord(1, 1, 2, 1));
        assertThrows(ArithmeticException.class, () -> Rounds.next(plan, more));
    }

    @Property(tries = 300)
    void plan_allKnownAtFirst_isGreedyBySize(@ForAll("aliased") PlanningProblem problem) {
        assertEquals(
                new GreedyBySize().plan(problem).unitOffsets(),
                Rounds.first(problem).unitOffsets());
    }

    @Property(tries = 300)
    void plan_anyRounds_isValidNeverMovesAndOnlyGrows(@ForAll("rounds") List<Rounds.Round> rounds) {
        List<OffsetPlan> plans = Rounds.plan(rounds);
        OffsetPlan before = Rounds.first(new PlanningProblem(List.of()));
        for (OffsetPlan plan : plans) {
            assertEquals(List.of(), PlanValidator.violations(plan, 1));
            assertTrue(plan.totalBytes() >= before.totalBytes());
            assertTrue(plan.totalBytes() >= LowerBounds.offsetBytes(plan.problem().units()));
            assertTrue(plan.unitOffsets().entrySet().containsAll(before.unitOffsets().entrySet()));
            before = plan;
        }
        assertEquals(
                rounds.stream().mapToInt(round -> round.known().records().size()).sum(),
                before.problem().records().size());
    }

    @Provide
    Arbitrary<PlanningProblem> aliased() {
        return Problems.aliased();
    }

    /**
     * Returns problems cut into rounds at random operators: a tensor's size may be known long
     * before it is used.
     */
    @Provide
    Arbitrary<List<Rounds.Round>> rounds() {
        return Combinators.combine(
                        Problems.records(),
                        Arbitraries.integers().between(0, 3).list().ofSize(25),
                        Arbitraries.integers().between(1, 6).list().ofSize(3))
                .as(RoundsTest::cut);
    }

    private static List<Rounds.Round> cut(
            List<UsageRecord> records, List<Integer> wanted, List<Integer> steps) {
        int[] operators = {
            0, steps.get(0), steps.get(0) + steps.get(1), Iterables.getLast(steps) + 12
        };
        List<List<UsageRecord>> known = new ArrayList<>();
        for (int i = 0; i < operators.length; i++) {
            known.add(new ArrayList<>());
        }
        for (UsageRecord record : records) {
            int round = wanted.get(record.tensor());
            while (operators[round] > record.first()) {
                round--;
            }
            known.get(round).add(record);
        }
        List<Rounds.Round> rounds = new ArrayList<>();
        for (int i = 0; i < operators.length; i++) {
            rounds.add(new Rounds.Round(operators[i], new PlanningProblem(known.get(i))));
        }
        return rounds;
    }
}
