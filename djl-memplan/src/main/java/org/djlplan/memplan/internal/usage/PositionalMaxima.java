package org.djlplan.memplan.internal.usage;

import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Positional maxima (Pisarchyk and Lee 2020, section 3): the i-th maximum is the maximum, over all
 * operator profiles, of the i-th largest size.
 *
 * <p>Records are added by size, largest first, to a count of tensors alive per operator. When the
 * largest count rises to i, some profile has i sizes of at least the size just added, and none had
 * before: that size is the i-th maximum.
 */
public final class PositionalMaxima {

    private PositionalMaxima() {}

    /**
     * Returns the maxima in bytes, first to last; their number is that of the records in the
     * largest profile.
     */
    public static ImmutableList<Long> of(Collection<UsageRecord> records) {
        List<UsageRecord> bySize =
                records.stream()
                        .sorted(Comparator.comparingLong(UsageRecord::bytes).reversed())
                        .toList();
        int[] starts = records.stream().mapToInt(UsageRecord::first).sorted().distinct().toArray();
        int[] alive = new int[starts.length];
        ImmutableList.Builder<Long> maxima = ImmutableList.builder();
        int largest = 0;
        for (UsageRecord record : bySize) {
            int before = largest;
            for (int i = Arrays.binarySearch(starts, record.first());
                    i < starts.length && starts[i] <= record.last();
                    i++) {
                largest = Math.max(largest, ++alive[i]);
            }
            if (largest > before) {
                maxima.add(record.bytes());
            }
        }
        return maxima.build();
    }
}
