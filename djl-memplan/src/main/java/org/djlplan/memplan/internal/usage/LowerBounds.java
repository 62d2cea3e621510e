package org.djlplan.memplan.internal.usage;

import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Computes lower bounds of the size of plans (Pisarchyk and Lee 2020, section 3). For {@link
 * PlanningProblem#records()} the bounds hold for plans without aliases; for {@link
 * PlanningProblem#units()} they hold for plans with exactly these alias classes: with other
 * classes, plans may be smaller.
 */
public final class LowerBounds {

    private LowerBounds() {}

    /**
     * Returns the bound in bytes for offset calculation: the maximum operator breadth.
     *
     * @throws ArithmeticException if it does not fit into a long
     */
    public static long offsetBytes(Collection<UsageRecord> records) {
        return new OperatorProfiles(records).maximumBreadthBytes();
    }

    /**
     * Returns the bound in bytes for shared objects: the sum of the positional maxima.
     *
     * @throws ArithmeticException if it does not fit into a long
     */
    public static long sharedObjectBytes(Collection<UsageRecord> records) {
        long sum = 0;
        for (long maximum : positionalMaxima(records)) {
            sum = UsageRecords.addBytes(sum, maximum);
        }
        return sum;
    }

    /**
     * Returns the positional maxima in bytes: the i-th is the maximum, over all operator profiles,
     * of the i-th largest size. Their number is that of the records in the largest profile.
     *
     * <p>Records are added by size, largest first, to a count of tensors alive per operator. When
     * the largest count rises to i, some profile has i sizes of at least the size just added, and
     * none had before: that size is the i-th maximum.
     */
    public static ImmutableList<Long> positionalMaxima(Collection<UsageRecord> records) {
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
