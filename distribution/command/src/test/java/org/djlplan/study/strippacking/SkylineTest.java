package org.djlplan.study.strippacking;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.testing.Problems;
import org.junit.jupiter.api.Test;

class SkylineTest {

    @Test
    void stack_apartInTime_liesSideBySide() {
        Skyline skyline =
                new Skyline(List.of(new UsageRecord(0, 0, 4, 8), new UsageRecord(1, 5, 9, 4)));
        assertEquals(0, skyline.stack(new UsageRecord(0, 0, 4, 8)));
        assertEquals(0, skyline.stack(new UsageRecord(1, 5, 9, 4)));
        assertEquals(8, skyline.highestBytes());
    }

    @Test
    void stack_lastPossibleOperator_isCovered() {
        UsageRecord last = new UsageRecord(0, Integer.MAX_VALUE, Integer.MAX_VALUE, 8);
        UsageRecord all = new UsageRecord(1, 0, Integer.MAX_VALUE, 4);
        Skyline skyline = new Skyline(List.of(last, all));
        assertEquals(0, skyline.stack(last));
        assertEquals(8, skyline.stack(all));
    }

    @Property(tries = 300)
    void stack_anyUnits_isTheHighestOfTheirOperators(@ForAll("units") List<UsageRecord> units) {
        Skyline skyline = new Skyline(units);
        long[] heights = new long[20];
        for (UsageRecord unit : units) {
            long expected =
                    Arrays.stream(heights, unit.first(), unit.last() + 1).max().orElseThrow();
            assertEquals(expected, skyline.stack(unit));
            Arrays.fill(heights, unit.first(), unit.last() + 1, expected + unit.bytes());
            assertEquals(Arrays.stream(heights).max().orElseThrow(), skyline.highestBytes());
        }
    }

    @Provide
    Arbitrary<List<UsageRecord>> units() {
        return Problems.records();
    }
}
