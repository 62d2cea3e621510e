package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.djlplan.thirdparty.guava.primitives.Longs;
import org.junit.jupiter.api.Test;

class StatisticsTest {

    @Test
    void medianMillis_oddAndEvenCounts_areTheMiddle() {
        assertEquals(
                2.0, new Statistics(new long[] {9_000_000, 1_000_000, 2_000_000}).medianMillis());
        assertEquals(1.5, new Statistics(new long[] {2_000_000, 1_000_000}).medianMillis());
    }

    @Test
    void percentileMillis_hundredTimes_isTheNearestRank() {
        long[] times = LongStream.rangeClosed(1, 100).map(ms -> (101 - ms) * 1_000_000).toArray();
        Statistics statistics = new Statistics(times);
        assertEquals(95.0, statistics.percentileMillis(95));
        assertEquals(99.0, statistics.percentileMillis(99));
        assertEquals(100.0, statistics.percentileMillis(100));
        assertEquals(1.0, statistics.percentileMillis(1));
    }

    @Test
    void percentileMillis_oneTime_isThatTime() {
        assertEquals(7.0, new Statistics(new long[] {7_000_000}).percentileMillis(95));
    }

    @Property
    void percentileMillis_anyTimes_coversThatPartAndNoLess(
            @ForAll @Size(min = 1, max = 60) List<@LongRange(min = 0, max = 1_000) Long> times,
            @ForAll @IntRange(min = 1, max = 100) int percent) {
        double limit = new Statistics(Longs.toArray(times)).percentileMillis(percent) * 1e6;
        long covered = times.stream().filter(t -> t <= limit + 1e-3).count();
        long below = times.stream().filter(t -> t < limit - 1e-3).count();
        assertTrue(covered * 100 >= (long) percent * times.size());
        assertTrue(below * 100 < (long) percent * times.size());
    }

    @Test
    void constructor_noTimes_isRefused() {
        assertThrows(IllegalArgumentException.class, () -> new Statistics(new long[0]));
    }
}
