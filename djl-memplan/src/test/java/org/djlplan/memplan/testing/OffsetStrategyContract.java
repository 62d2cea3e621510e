package org.djlplan.memplan.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.plan.PlanValidator;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.junit.jupiter.api.Test;

/** What every offset strategy does, whatever its plans are like. */
public abstract class OffsetStrategyContract {

    private static final int MANY = 5_000;

    /** Returns the strategies under test. */
    protected abstract List<OffsetStrategy> strategies();

    private static OffsetPlan valid(OffsetStrategy strategy, PlanningProblem problem) {
        OffsetPlan plan = strategy.plan(problem);
        assertEquals(List.of(), PlanValidator.violations(plan, 1), strategy::name);
        assertEquals(strategy.name(), plan.strategy());
        assertTrue(plan.totalBytes() >= LowerBounds.offsetBytes(problem.units()), strategy::name);
        return plan;
    }

    @Test
    void plan_noRecords_isEmpty() {
        for (OffsetStrategy strategy : strategies()) {
            assertEquals(0, valid(strategy, new PlanningProblem(List.of())).totalBytes());
        }
    }

    @Test
    void plan_arenaOverflows_isAnError() {
        PlanningProblem huge =
                new PlanningProblem(
                        List.of(
                                new UsageRecord(0, 0, 1, Long.MAX_VALUE),
                                new UsageRecord(1, 1, 2, Long.MAX_VALUE)));
        for (OffsetStrategy strategy : strategies()) {
            assertThrows(ArithmeticException.class, () -> strategy.plan(huge), strategy::name);
        }
    }

    @Test
    void plan_wholeRangeOfOperators_isValid() {
        int last = Integer.MAX_VALUE;
        PlanningProblem problem =
                new PlanningProblem(Vectors.records(0, last, 3, last, last, 5, 0, 0, 7));
        strategies().forEach(strategy -> valid(strategy, problem));
    }

    @Test
    void plan_manyRecords_ends() {
        PlanningProblem problem = new PlanningProblem(Problems.many(MANY));
        // Guards against quadratic time, with which it would seem to hang.
        assertTimeoutPreemptively(
                Duration.ofMinutes(2),
                () ->
                        strategies().stream()
                                .filter(strategy -> strategy.admits(problem))
                                .forEach(strategy -> valid(strategy, problem)));
    }

    @Property(tries = 300)
    void plan_anyProblem_isValidAndNotBelowTheBound(@ForAll("problems") PlanningProblem problem) {
        for (OffsetStrategy strategy : strategies()) {
            OffsetPlan plan = valid(strategy, problem);
            for (List<Integer> members : problem.aliasClasses()) {
                assertEquals(1, members.stream().map(plan::offsetOf).distinct().count());
            }
        }
    }

    @Property(tries = 100)
    void plan_recordsInAnyOrder_isTheSame(
            @ForAll("problems") PlanningProblem problem, @ForAll Random random) {
        List<UsageRecord> shuffled = new ArrayList<>(problem.records());
        Collections.shuffle(shuffled, random);
        PlanningProblem again =
                new PlanningProblem(shuffled, problem.aliasClasses())
                        .withConflicts(problem.conflicts());
        for (OffsetStrategy strategy : strategies()) {
            assertEquals(strategy.plan(problem).unitOffsets(), strategy.plan(again).unitOffsets());
        }
    }

    @Provide
    protected Arbitrary<PlanningProblem> problems() {
        return Problems.aliased();
    }
}
