package org.djlplan.study.shared;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.testing.Problems;
import org.junit.jupiter.api.Test;

class MinCostFlowTest {

    /** Returns the flow's cost: for each object, the size of its first unit plus each growth. */
    private static long cost(SharedObjectsPlan plan) {
        long cost = 0;
        for (int object = 0; object < plan.objectBytes().size(); object++) {
            int number = object;
            long before = 0;
            for (UsageRecord unit :
                    plan.problem().units().stream()
                            .filter(u -> plan.objectOf(u.tensor()) == number)
                            .sorted(Comparator.comparingInt(UsageRecord::first))
                            .toList()) {
                cost += Math.max(0, unit.bytes() - before);
                before = unit.bytes();
            }
        }
        return cost;
    }

    /** Tries every predecessor of every unit. */
    private static long leastCost(List<UsageRecord> units, int unit, List<UsageRecord> followed) {
        if (unit == units.size()) {
            return 0;
        }
        UsageRecord next = units.get(unit);
        long least = next.bytes() + leastCost(units, unit + 1, followed);
        for (UsageRecord before : units) {
            if (before.last() < next.first() && !followed.contains(before)) {
                List<UsageRecord> more = new ArrayList<>(followed);
                more.add(before);
                long growth = Math.max(0, next.bytes() - before.bytes());
                least = Math.min(least, growth + leastCost(units, unit + 1, more));
            }
        }
        return least;
    }

    @Property(tries = 300)
    void plan_fewUnits_hasTheLeastCost(@ForAll("records") List<UsageRecord> records) {
        PlanningProblem problem = new PlanningProblem(records);
        assertEquals(
                leastCost(problem.units(), 0, List.of()), cost(new MinCostFlow().plan(problem)));
    }

    @Test
    void plan_sizesBeyondAnInt_areNotCutShort() {
        // The smaller object must not grow by 2^40 bytes: costs are longs.
        PlanningProblem problem =
                new PlanningProblem(
                        List.of(
                                new UsageRecord(0, 0, 0, 1L << 40),
                                new UsageRecord(1, 0, 1, 1L << 20),
                                new UsageRecord(2, 3, 3, (1L << 40) + 1)));
        SharedObjectsPlan plan = new MinCostFlow().plan(problem);
        assertEquals(plan.objectOf(0), plan.objectOf(2));
        assertEquals((1L << 40) + 1 + (1L << 20), plan.totalBytes());
    }

    @Test
    void admits_overTheLimit_no() {
        List<UsageRecord> records = new ArrayList<>();
        for (int i = 0; i < new MinCostFlow().largestProblem(); i++) {
            records.add(new UsageRecord(i, i, i, 1));
        }
        assertTrue(new MinCostFlow().admits(new PlanningProblem(records)));
        records.add(new UsageRecord(records.size(), 0, 0, 1));
        assertFalse(new MinCostFlow().admits(new PlanningProblem(records)));
    }

    @Provide
    Arbitrary<List<UsageRecord>> records() {
        return Problems.records().map(records -> records.subList(0, Math.min(6, records.size())));
    }
}
