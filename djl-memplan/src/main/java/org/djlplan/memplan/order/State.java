package org.djlplan.memplan.order;

import java.util.Arrays;
import java.util.Optional;

/**
 * A set of executed nodes of a segment, and the best known schedule that leads to it.
 *
 * @param done the executed nodes, as bits
 * @param ready the nodes that wait for none but executed ones, ascending
 * @param count how many nodes are executed
 * @param aliveBytes size of the tensors alive between two nodes now
 * @param peakBytes maximum breadth of the schedule
 * @param last the last step of the schedule
 */
record State(
        long[] done, int[] ready, int count, long aliveBytes, long peakBytes, Optional<Step> last) {

    /**
     * One executed node.
     *
     * @param from the state before
     */
    record Step(State from, int node) {}

    /** The set of executed nodes alone, to be compared. */
    static final class Key {

        private final long[] done;

        private Key(long[] done) {
            this.done = done;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Key that && Arrays.equals(done, that.done);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(done);
        }
    }

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

    Key key() {
        return new Key(done);
    }

    /** Returns the executed nodes in the order of execution. */
    int[] schedule() {
        int[] schedule = new int[count];
        Optional<Step> step = last;
        for (int i = count - 1; i >= 0; i--) {
            schedule[i] = step.orElseThrow().node();
            step = step.orElseThrow().from().last();
        }
        return schedule;
    }
}
