package org.djlplan.memplan.internal.usage;

import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Operator profiles and operator breadths (Pisarchyk and Lee 2020, section 3). Breadths change only
 * where a tensor starts or has ended, so only those positions are stored: building takes O(n log n)
 * time and O(n) memory for n records, independent of the number of operators.
 */
public final class OperatorProfiles {

    private final ImmutableList<UsageRecord> records;

    /** Positions where breadths may change, ascending; the last may lie one past an int. */
    private final long[] places;

    /** Breadth in bytes from each position until the next. */
    private final long[] breadths;

    /**
     * @param records the records of a problem, or its units when tensors share places
     * @throws ArithmeticException if a breadth does not fit into a long
     */
    public OperatorProfiles(Collection<UsageRecord> records) {
        this.records = ImmutableList.copyOf(records);
        places = places(records);
        breadths = new long[places.length];
        long[] ended = new long[places.length];
        for (UsageRecord record : records) {
            add(breadths, record.first(), record.bytes());
            add(ended, record.last() + 1L, record.bytes());
        }
        long breadth = 0;
        for (int i = 0; i < places.length; i++) {
            breadth = UsageRecords.addBytes(breadth - ended[i], breadths[i]);
            breadths[i] = breadth;
        }
    }

    private static long[] places(Collection<UsageRecord> records) {
        long[] sorted = new long[2 * records.size()];
        int count = 0;
        for (UsageRecord record : records) {
            sorted[count++] = record.first();
            sorted[count++] = record.last() + 1L;
        }
        Arrays.sort(sorted);
        count = 0;
        for (long place : sorted) {
            if (count == 0 || sorted[count - 1] != place) {
                sorted[count++] = place;
            }
        }
        return Arrays.copyOf(sorted, count);
    }

    private void add(long[] bytes, long place, long added) {
        int at = Arrays.binarySearch(places, place);
        bytes[at] = UsageRecords.addBytes(bytes[at], added);
    }

    /** Returns the sum in bytes of the sizes alive at {@code operator}. */
    public long breadthAt(int operator) {
        int found = Arrays.binarySearch(places, operator);
        int place = found >= 0 ? found : -found - 2;
        return place < 0 ? 0 : breadths[place];
    }

    /**
     * Returns the breadths in bytes of the operators at which a tensor starts. The profile of any
     * other operator is part of the profile of one of these.
     */
    public SortedMap<Integer, Long> breadthsAtStarts() {
        SortedMap<Integer, Long> starts = new TreeMap<>();
        for (UsageRecord record : records) {
            starts.put(record.first(), breadthAt(record.first()));
        }
        return Collections.unmodifiableSortedMap(starts);
    }

    /** Returns the maximum breadth in bytes; 0 without records. */
    public long maximumBreadthBytes() {
        long maximum = 0;
        for (long breadth : breadths) {
            maximum = Math.max(maximum, breadth);
        }
        return maximum;
    }
}
