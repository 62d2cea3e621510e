package org.djlplan.study.search;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.study.strippacking.MomentTable;

/**
 * The time axis cut into sections, and the units in them, by number. A section stands for all
 * operators whose profiles are part of the same largest profile, which is that of one of the {@link
 * MomentTable}'s moments; sections are numbered in execution order.
 *
 * <pre>
 *   unit 0   ========
 *   unit 1        =========          section 0 = {0, 1}
 *   unit 2                  =====    section 1 = {1, 2}
 *   unit 3                 ==        section 2 would be part of 1, so it is none
 * </pre>
 */
final class Sections {

    /** Number of units and of sections. */
    final int units;

    final int count;

    /** Per unit: its size in bytes, its number of operators, its first and its last section. */
    final long[] bytes;

    final long[] length;
    final int[] first;
    final int[] last;

    /** Per unit: the units it overlaps, ascending. */
    final int[][] overlaps;

    /** Per section: the units alive in it, ascending. */
    final int[][] members;

    Sections(List<UsageRecord> records) {
        units = records.size();
        bytes = records.stream().mapToLong(UsageRecord::bytes).toArray();
        length = records.stream().mapToLong(r -> r.last() - (long) r.first() + 1).toArray();
        first = new int[units];
        last = new int[units];
        MomentTable moments = new MomentTable(records);
        count = moments.moments;
        for (int i = 0; i < units; i++) {
            first[moments.index[i]] = moments.from[i];
            last[moments.index[i]] = moments.to[i] - 1;
        }
        members = new int[count][];
        int[] filled = new int[count];
        for (int unit = 0; unit < units; unit++) {
            for (int s = first[unit]; s <= last[unit]; s++) {
                filled[s]++;
            }
        }
        Arrays.setAll(members, s -> new int[filled[s]]);
        Arrays.fill(filled, 0);
        for (int unit = 0; unit < units; unit++) {
            for (int s = first[unit]; s <= last[unit]; s++) {
                members[s][filled[s]++] = unit;
            }
        }
        overlaps = new int[units][];
        Arrays.setAll(
                overlaps,
                unit ->
                        IntStream.range(0, units)
                                .filter(other -> other != unit && overlap(unit, other))
                                .toArray());
    }

    private boolean overlap(int unit, int other) {
        return first[unit] <= last[other] && first[other] <= last[unit];
    }
}
