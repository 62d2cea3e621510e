package org.djlplan.study.shared;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.testing.Problems;
import org.junit.jupiter.api.Test;

class MinCostFlowTest {

    /** Returns the flow's cost: for each object, the size of its first unit plus each growth. */
    private static long cost(List<UsageRecord> units, Map<Integer, Integer> objects) {
        Map<Integer, Long> bytes = new HashMap<>();
        long cost = 0;
        for (UsageRecord unit :
                units.stream().sorted(Comparator.comparingInt(UsageRecord::first)).toList()) {
            Long before = bytes.put(objects.get(unit.tensor()), unit.bytes());
            cost += Math.max(0, unit.bytes() - (before == null ? 0 : before));
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
        assertEquals(leastCost(records, 0, List.of()), cost(records, MinCostFlow.objects(records)));
    }

    @Test
    void plan_sizesBeyondAnInt_areNotCutShort() {
        // The smaller object must not grow by 2^40 bytes: costs are longs.
        Map<Integer, Integer> objects =
                MinCostFlow.objects(
                        List.of(
                                new UsageRecord(0, 0, 0, 1L << 40),
                                new UsageRecord(1, 0, 1, 1L << 20),
                                new UsageRecord(2, 3, 3, (1L << 40) + 1)));
        assertEquals(objects.get(0), objects.get(2));
    }

    @Provide
    Arbitrary<List<UsageRecord>> records() {
        return Problems.records().map(records -> records.subList(0, Math.min(6, records.size())));
    }
}
