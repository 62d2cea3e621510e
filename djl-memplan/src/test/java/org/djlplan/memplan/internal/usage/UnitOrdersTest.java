package org.djlplan.memplan.internal.usage;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class UnitOrdersTest {

    private static final Comparator<UsageRecord> TENSOR =
            Comparator.comparingInt(UsageRecord::tensor);
    private static final Comparator<UsageRecord> SIZE =
            Comparator.comparingLong(UsageRecord::bytes).reversed();
    private static final Comparator<UsageRecord> FIRST =
            Comparator.comparingInt(UsageRecord::first);
    private static final Comparator<UsageRecord> LENGTH =
            Comparator.comparingLong((UsageRecord unit) -> (long) unit.last() - unit.first())
                    .reversed();

    static Stream<Arguments> orders() {
        return Stream.of(
                order(UnitOrders::byTensor, TENSOR),
                order(UnitOrders::bySize, SIZE.thenComparing(TENSOR)),
                order(UnitOrders::bySizeAndFirst, SIZE.thenComparing(FIRST).thenComparing(TENSOR)),
                order(UnitOrders::byFirst, FIRST.thenComparing(TENSOR)),
                order(UnitOrders::byFirstAndSize, FIRST.thenComparing(SIZE).thenComparing(TENSOR)),
                order(UnitOrders::byLength, LENGTH.thenComparing(SIZE).thenComparing(TENSOR)));
    }

    private static Arguments order(
            Comparator<UsageRecord> order, Comparator<UsageRecord> expected) {
        return Arguments.of(order, expected);
    }

    /** Few values, so that every part of an order decides between some units. */
    private static List<UsageRecord> units() {
        List<UsageRecord> units = new ArrayList<>();
        for (int first = 0; first < 3; first++) {
            for (int length = 0; length < 3; length++) {
                for (int size = 1; size < 4; size++) {
                    units.add(new UsageRecord(units.size(), first, first + length, 64L * size));
                    units.add(new UsageRecord(units.size(), first, first + length, 64L * size));
                }
            }
        }
        units.add(new UsageRecord(units.size(), 0, Integer.MAX_VALUE - 1, Long.MAX_VALUE - 63));
        Collections.shuffle(units, new Random(5));
        return units;
    }

    @ParameterizedTest
    @MethodSource("orders")
    void sort_unitsWithTies_isThatOfTheComparators(
            Comparator<UsageRecord> order, Comparator<UsageRecord> expected) {
        assertEquals(
                units().stream().sorted(expected).toList(),
                units().stream().sorted(order).toList());
    }
}
