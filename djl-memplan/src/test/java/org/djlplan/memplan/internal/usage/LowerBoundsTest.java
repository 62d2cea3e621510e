package org.djlplan.memplan.internal.usage;

import static org.djlplan.memplan.testing.Vectors.records;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.djlplan.memplan.testing.Problems;
import org.djlplan.memplan.testing.Vectors;
import org.junit.jupiter.api.Test;

class LowerBoundsTest {

    @Test
    void breadths_paperExample_equalThePapers() {
        OperatorProfiles profiles = new OperatorProfiles(Vectors.PISARCHYK);
        assertEquals(
                List.of(32L, 60L, 64L, 80L, 88L, 124L, 74L, 114L, 50L, 0L),
                IntStream.range(0, 10).mapToObj(profiles::breadthAt).toList());
    }

    @Test
    void bounds_paperExample_equalThePapers() {
        assertEquals(234, UsageRecords.naiveBytes(Vectors.PISARCHYK));
        assertEquals(124, LowerBounds.offsetBytes(Vectors.PISARCHYK));
        assertEquals(128, LowerBounds.sharedObjectBytes(Vectors.PISARCHYK));
        assertEquals(16L, LowerBounds.positionalMaxima(Vectors.PISARCHYK).get(2));
    }

    @Test
    void bounds_noRecords_areZero() {
        assertEquals(0, LowerBounds.offsetBytes(List.of()));
        assertEquals(0, LowerBounds.sharedObjectBytes(List.of()));
    }

    @Test
    void offsetBytes_unitsOfAliases_countEachClassOnce() {
        List<UsageRecord> chain = records(0, 1, 64, 1, 2, 64, 2, 3, 64);
        PlanningProblem aliased = new PlanningProblem(chain, List.of(List.of(0, 1, 2)));
        assertEquals(128, LowerBounds.offsetBytes(aliased.records()));
        assertEquals(64, LowerBounds.offsetBytes(aliased.units()));
        assertEquals(64, LowerBounds.sharedObjectBytes(aliased.units()));
    }

    @Test
    void bounds_breadthOverflows_areErrors() {
        List<UsageRecord> huge =
                List.of(
                        new UsageRecord(0, 0, 1, Long.MAX_VALUE),
                        new UsageRecord(1, 1, 2, Long.MAX_VALUE));
        assertThrows(ArithmeticException.class, () -> LowerBounds.offsetBytes(huge));
        assertThrows(ArithmeticException.class, () -> LowerBounds.sharedObjectBytes(huge));
    }

    @Test
    void offsetBytes_lastPossibleOperator_isCounted() {
        UsageRecord record = new UsageRecord(0, Integer.MAX_VALUE, Integer.MAX_VALUE, 64);
        assertEquals(64, LowerBounds.offsetBytes(List.of(record)));
    }

    @Test
    void bounds_fiftyThousandNestedRecords_areTheirSum() {
        List<UsageRecord> nested = new ArrayList<>();
        for (int i = 0; i < 50_000; i++) {
            nested.add(new UsageRecord(i, i, 200_000 - i, 1 + i));
        }
        // Guards against quadratic time, with which it would seem to hang.
        assertTimeoutPreemptively(
                Duration.ofMinutes(2),
                () -> {
                    assertEquals(50_000L * 50_001 / 2, LowerBounds.offsetBytes(nested));
                    assertEquals(50_000L * 50_001 / 2, LowerBounds.sharedObjectBytes(nested));
                });
    }

    @Property(tries = 300)
    void bounds_anyRecords_followTheirDefinitions(@ForAll("anyRecords") List<UsageRecord> records) {
        OperatorProfiles profiles = new OperatorProfiles(records);
        long maximum = 0;
        List<Long> maxima = new ArrayList<>();
        for (int operator = 0; operator < 20; operator++) {
            int at = operator;
            List<Long> sizes =
                    records.stream()
                            .filter(r -> r.first() <= at && at <= r.last())
                            .map(UsageRecord::bytes)
                            .sorted(Comparator.reverseOrder())
                            .toList();
            long breadth = sizes.stream().mapToLong(Long::longValue).sum();
            assertEquals(breadth, profiles.breadthAt(operator));
            maximum = Math.max(maximum, breadth);
            for (int i = 0; i < sizes.size(); i++) {
                if (i == maxima.size()) {
                    maxima.add(0L);
                }
                maxima.set(i, Math.max(maxima.get(i), sizes.get(i)));
            }
        }
        assertEquals(maximum, LowerBounds.offsetBytes(records));
        assertEquals(maxima, LowerBounds.positionalMaxima(records));
        assertEquals(
                maxima.stream().mapToLong(Long::longValue).sum(),
                LowerBounds.sharedObjectBytes(records));
    }

    @Provide
    Arbitrary<List<UsageRecord>> anyRecords() {
        return Problems.records();
    }
}
