package org.djlplan.memplan.usage;

import com.google.common.collect.ImmutableList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/**
 * Positional maxima (Pisarchyk and Lee 2020, section 3): the i-th is the largest i-th largest size
 * over all operator profiles.
 *
 * <p>Records are added by size, largest first, to a count of tensors alive per operator. When the
 * largest count rises to i, some profile has i sizes of at least the one just added, and none had
 * before: that size is the i-th maximum. O(n log n), without building a single profile.
 */
public final class PositionalMaxima {

    private PositionalMaxima() {}

    /** Returns the maxima in bytes, first to last; as many as the largest profile has records. */
    public static ImmutableList<Long> of(Collection<UsageRecord> records) {
        List<UsageRecord> bySize =
                records.stream()
                        .sorted(Comparator.comparingLong(UsageRecord::bytes).reversed())
                        .toList();
        int[] starts = records.stream().mapToInt(UsageRecord::first).sorted().distinct().toArray();
        AliveCounts alive = new AliveCounts(starts);
        ImmutableList.Builder<Long> maxima = ImmutableList.builder();
        int largest = 0;
        for (UsageRecord record : bySize) {
            alive.add(record);
            if (alive.maximum() > largest) {
                largest = alive.maximum();
                maxima.add(record.bytes());
            }
        }
        return maxima.build();
    }
}
