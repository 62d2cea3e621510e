package org.djlplan.study.strippacking;

/**
 * The upper edge of the placed units: segments of moments with one height. Neighbouring segments
 * have different heights. A segment is identified by its first moment. The current position is
 * always a <em>valley</em>, a segment lower than both neighbours; valleys are independent of each
 * other, so their order does not matter.
 */
final class Valleys {

    private final int moments;
    private final long[] height;

    /** First moment after each segment. */
    private final int[] end;

    /** The segment before each one; negative for the first. */
    private final int[] before;

    private int valley;

    /** Creates a flat skyline at height 0. */
    Valleys(int moments) {
        this.moments = moments;
        height = new long[moments];
        end = new int[moments + 1];
        before = new int[moments + 1];
        end[0] = moments;
        before[0] = -1;
    }

    /** Returns the first moment of the valley. */
    int from() {
        return valley;
    }

    /** Returns the moment after the valley. */
    int to() {
        return end[valley];
    }

    /** Returns the height in bytes of the valley. */
    long heightBytes() {
        return height[valley];
    }

    /** Returns the height in bytes of the valley's lower neighbour, which must exist. */
    long wallBytes() {
        long left = valley == 0 ? Long.MAX_VALUE : height[before[valley]];
        long right = to() == moments ? Long.MAX_VALUE : height[to()];
        return Math.min(left, right);
    }

    /** Raises the valley to its lower neighbour, and moves to a valley. */
    void raise() {
        height[valley] = wallBytes();
        valley = merge(valley);
        descend();
    }

    /** Raises a part of the valley to {@code topBytes}, and moves to a valley. */
    void put(int from, int to, long topBytes) {
        int right = to();
        long heightBytes = height[valley];
        if (to < right) {
            start(to, right, heightBytes);
            before[to] = from;
        }
        start(from, to, topBytes);
        if (from > valley) {
            end[valley] = from;
            before[from] = valley;
            if (to == right) {
                merge(from);
            }
        } else {
            valley = merge(from);
        }
        descend();
    }

    private void start(int from, int to, long heightBytes) {
        height[from] = heightBytes;
        end[from] = to;
        before[to] = from;
    }

    /** Merges a segment with neighbours of its height, and returns the result. */
    private int merge(int segment) {
        int right = end[segment];
        if (right < moments && height[right] == height[segment]) {
            end[segment] = end[right];
            before[end[segment]] = segment;
        }
        int left = before[segment];
        if (left >= 0 && height[left] == height[segment]) {
            end[left] = end[segment];
            before[end[left]] = left;
            return left;
        }
        return segment;
    }

    private void descend() {
        for (; ; ) {
            int right = end[valley];
            int left = before[valley];
            if (right < moments && height[right] < height[valley]) {
                valley = right;
            } else if (left >= 0 && height[left] < height[valley]) {
                valley = left;
            } else {
                return;
            }
        }
    }
}
