package org.djlplan.memplan.order;

import java.util.Optional;

/**
 * A set of executed nodes of a segment, and the best known way to it.
 *
 * @param done the executed nodes
 * @param ready the nodes that wait for none but executed ones, ascending
 * @param count how many nodes are executed
 * @param aliveBytes what is alive between two nodes now
 * @param peakBytes maximum breadth on the way
 * @param last the last step of the way
 */
record State(
        long[] done, int[] ready, int count, long aliveBytes, long peakBytes, Optional<Step> last) {

    /**
     * One executed node.
     *
     * @param from the state before
     */
    record Step(State from, int node) {}

    static State start(long[] done, int[] ready, long aliveBytes) {
        return new State(done, ready, 0, aliveBytes, aliveBytes, Optional.empty());
    }

    State next(int node, long[] nowDone, int[] nowReady, long breadthBytes, long nowAliveBytes) {
        return new State(
                nowDone,
                nowReady,
                count + 1,
                nowAliveBytes,
                Math.max(peakBytes, breadthBytes),
                Optional.of(new Step(this, node)));
    }

    /** Returns the executed nodes in the order of execution. */
    int[] way() {
        int[] way = new int[count];
        Optional<Step> step = last;
        for (int i = count - 1; i >= 0; i--) {
            way[i] = step.orElseThrow().node();
            step = step.orElseThrow().from().last();
        }
        return way;
    }
}
