package org.djlplan.study.delegation;

import java.util.Comparator;
import java.util.List;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Computes the Pareto front: measured candidates that no other candidate beats in both latency and
 * memory.
 */
public final class Pareto {

    private Pareto() {}

    /** Returns the front, the fastest first. */
    public static List<Entry.Measured> front(ProfileTable table) {
        List<Entry.Measured> measured =
                table.entries().stream()
                        .filter(Entry.Measured.class::isInstance)
                        .map(Entry.Measured.class::cast)
                        .sorted(
                                Comparator.comparingLong(Pareto::nanos)
                                        .thenComparing(Entry.Measured::memoryBytes))
                        .toList();
        ImmutableList.Builder<Entry.Measured> front = ImmutableList.builder();
        long leastBytes = Long.MAX_VALUE;
        for (Entry.Measured entry : measured) {
            if (entry.memoryBytes() < leastBytes) {
                front.add(entry);
                leastBytes = entry.memoryBytes();
            }
        }
        return front.build();
    }

    private static long nanos(Entry.Measured entry) {
        return entry.latency().medianNanos();
    }
}
