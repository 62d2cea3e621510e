package org.djlplan.study.strippacking;

import java.util.Arrays;
import java.util.Collection;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;

/**
 * The upper edge of all stacked units: a segment tree over time with range maximum and range
 * assignment, O(log n) each.
 *
 * <p>Heights are stored only at operators at which a unit starts. If two units overlap, the later
 * one starts within the other, so they meet at one of these operators.
 *
 * <p>Stacking never lowers a height, so a range assignment only raises heights to at least a value,
 * and needs no lazy propagation.
 */
final class Skyline {

    private final int[] starts;
    private final int leaves;

    /** Largest height below a node, unless an ancestor was raised higher. */
    private final long[] highest;

    /** Minimum height to which all positions below a node were raised. */
    private final long[] raisedTo;

    /** Creates a flat skyline at offset 0 over the whole time of {@code units}. */
    Skyline(Collection<UsageRecord> units) {
        starts = units.stream().mapToInt(UsageRecord::first).sorted().distinct().toArray();
        leaves = Math.max(1, Integer.highestOneBit(Math.max(1, 2 * starts.length - 1)));
        highest = new long[2 * leaves];
        raisedTo = new long[2 * leaves];
    }

    /**
     * Puts a unit on the highest height within its interval and returns its offset in bytes.
     *
     * @throws ArithmeticException if the arena does not fit into a long
     */
    long stack(UsageRecord unit) {
        int from = leaves + Arrays.binarySearch(starts, unit.first());
        int found = Arrays.binarySearch(starts, unit.last());
        int to = leaves + (found >= 0 ? found : -found - 2);
        long offset = highest(from, to);
        raise(from, to, UsageRecords.addBytes(offset, unit.bytes()));
        return offset;
    }

    /** Returns the largest height in bytes: the size of the arena. */
    long highestBytes() {
        return highest[1];
    }

    private long highest(int from, int to) {
        long height = 0;
        int left = from;
        int right = to + 1;
        for (; left < right; left >>= 1, right >>= 1) {
            if ((left & 1) == 1) {
                height = Math.max(height, highest[left++]);
            }
            if ((right & 1) == 1) {
                height = Math.max(height, highest[--right]);
            }
        }
        for (int node = from; node > 0; node >>= 1) {
            height = Math.max(height, raisedTo[node]);
        }
        for (int node = to; node > 0; node >>= 1) {
            height = Math.max(height, raisedTo[node]);
        }
        return height;
    }

    private void raise(int from, int to, long height) {
        int left = from;
        int right = to + 1;
        for (; left < right; left >>= 1, right >>= 1) {
            if ((left & 1) == 1) {
                raiseBelow(left++, height);
            }
            if ((right & 1) == 1) {
                raiseBelow(--right, height);
            }
        }
        for (int node = from; node > 0; node >>= 1) {
            highest[node] = Math.max(highest[node], height);
        }
        for (int node = to; node > 0; node >>= 1) {
            highest[node] = Math.max(highest[node], height);
        }
    }

    private void raiseBelow(int node, long height) {
        raisedTo[node] = Math.max(raisedTo[node], height);
        highest[node] = Math.max(highest[node], height);
    }
}
