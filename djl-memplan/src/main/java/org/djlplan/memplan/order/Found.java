package org.djlplan.memplan.order;

import com.google.common.primitives.ImmutableIntArray;

/**
 * What is known of one segment.
 *
 * @param segment the segment
 * @param way its nodes in the order to execute
 * @param peakBytes maximum breadth of that
 * @param lowerBoundBytes what no order of the segment is proved to go below
 */
record Found(Segment segment, ImmutableIntArray way, long peakBytes, long lowerBoundBytes) {

    /** Returns the order in which the nodes stand in the graph. */
    static Found asItStands(Segment segment) {
        State way = segment.inOrder();
        return new Found(
                segment,
                ImmutableIntArray.copyOf(way.way()),
                way.peakBytes(),
                segment.lowerBoundBytes());
    }

    Found with(ImmutableIntArray betterWay, long betterPeakBytes) {
        return new Found(segment, betterWay, betterPeakBytes, lowerBoundBytes);
    }

    Found withLowerBound(long bytes) {
        return new Found(segment, way, peakBytes, Math.max(lowerBoundBytes, bytes));
    }
}
