package org.djlplan.memplan.usage;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSortedMap;
import java.util.Collection;
import java.util.Comparator;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Operator profiles and operator breadths (Pisarchyk and Lee 2020, section 3). Breadths change only
 * where a tensor starts or has ended, so only those places are kept: building takes O(n log n) time
 * and O(n) memory for n records, however far apart the operators are.
 */
public final class OperatorProfiles {

    /** Largest sizes first; ties by tensor id. */
    private static final Comparator<UsageRecord> BY_SIZE =
            Comparator.comparingLong(UsageRecord::bytes)
                    .reversed()
                    .thenComparingInt(UsageRecord::tensor);

    private final ImmutableList<UsageRecord> records;

    /** From each key on, until the next, the breadth is the value; keys may lie one past an int. */
    private final NavigableMap<Long, Long> breadths = new TreeMap<>();

    /**
     * @param records the records of a problem, or its units when tensors share places
     * @throws ArithmeticException if a breadth does not fit into a long
     */
    public OperatorProfiles(Collection<UsageRecord> records) {
        this.records = ImmutableList.sortedCopyOf(BY_SIZE, records);
        TreeMap<Long, Long> ended = new TreeMap<>();
        TreeMap<Long, Long> started = new TreeMap<>();
        for (UsageRecord record : records) {
            started.merge((long) record.first(), record.bytes(), UsageRecords::addBytes);
            ended.merge(record.last() + 1L, record.bytes(), UsageRecords::addBytes);
            breadths.put((long) record.first(), 0L);
            breadths.put(record.last() + 1L, 0L);
        }
        long breadth = 0;
        for (Map.Entry<Long, Long> place : breadths.entrySet()) {
            breadth -= ended.getOrDefault(place.getKey(), 0L);
            breadth = UsageRecords.addBytes(breadth, started.getOrDefault(place.getKey(), 0L));
            place.setValue(breadth);
        }
    }

    /** Returns the records alive at {@code operator}, largest first, ties by tensor id. */
    public ImmutableList<UsageRecord> profileAt(int operator) {
        return records.stream()
                .filter(r -> r.first() <= operator && operator <= r.last())
                .collect(ImmutableList.toImmutableList());
    }

    /** Returns the sum in bytes of the sizes alive at {@code operator}. */
    public long breadthAt(int operator) {
        Map.Entry<Long, Long> place = breadths.floorEntry((long) operator);
        return place == null ? 0 : place.getValue();
    }

    /**
     * Returns the breadths in bytes of the operators at which a tensor starts. No other operator's
     * profile has a tensor that is missing from all of these.
     */
    public ImmutableSortedMap<Integer, Long> breadthsAtStarts() {
        ImmutableSortedMap.Builder<Integer, Long> starts = ImmutableSortedMap.naturalOrder();
        records.stream()
                .mapToInt(UsageRecord::first)
                .distinct()
                .forEach(first -> starts.put(first, breadthAt(first)));
        return starts.build();
    }

    /** Returns the maximum breadth in bytes; 0 without records. */
    public long maximumBreadthBytes() {
        return breadths.values().stream().mapToLong(Long::longValue).max().orElse(0);
    }
}
