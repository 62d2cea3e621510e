package org.djlplan.study.shared;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;
import org.djlplan.study.shared.Fitting.Outcome;

/**
 * A nogood of the search for sizes: an interval of the sweep, and sizes of objects, as large as
 * possible, into which the interval's units do not fit. Sizes that are at most these, compared one
 * by one from the largest on, are not enough either.
 *
 * @param from first position of the interval
 * @param to position after its last
 * @param sizes ranks of sizes, largest first
 * @param further rank of the size of an unlimited number of further objects; 0 for no further
 *     objects
 */
record Nogood(int from, int to, int[] sizes, int further) {

    /** Trials may take this many times the nodes of the failure that they generalize. */
    private static final int PATIENCE = 4;

    private static final int FEWEST_NODES = 500;

    /**
     * Generalizes a failure: drops positions, then enlarges sizes.
     *
     * @param failure the failed search
     * @param sizes into which the units did not fit
     * @param nodes number of nodes of the failed search
     */
    static Nogood of(Sweep sweep, Fitting failure, int[] sizes, long nodes, NodeBudget budget) {
        Explanation explanation =
                new Explanation(sweep, sizes, PATIENCE * nodes + FEWEST_NODES, budget);
        return explanation.explain(failure.from(), failure.reached());
    }

    /** Returns whether this nogood proves that {@code others} are not enough. */
    boolean covers(int[] others) {
        for (int i = 0; i < others.length; i++) {
            if (others[i] > bound(i)) {
                return false;
            }
        }
        return true;
    }

    /** Returns the rank that an object's size must exceed to change the result. */
    int bound(int object) {
        return object < sizes.length ? sizes[object] : further;
    }

    /** Generalizes a failure to a nogood. */
    private static final class Explanation {

        private final Sweep sweep;
        private final long nodesPerTrial;
        private final NodeBudget budget;

        /** More objects of one size than this are never useful. */
        private final int mostAlive;

        private int from;
        private int to;
        private final int[] sizes;
        private int further;

        Explanation(Sweep sweep, int[] sizes, long nodesPerTrial, NodeBudget budget) {
            this.sweep = sweep;
            this.sizes = sizes.clone();
            mostAlive = sizes.length;
            this.nodesPerTrial = nodesPerTrial;
            this.budget = budget;
        }

        Nogood explain(int start, int reached) {
            to = reached;
            int low = start;
            for (int high = reached - 1; low < high; ) {
                int middle = (low + high + 1) >>> 1;
                if (isTooSmall(middle, 0, sizes[0])) {
                    low = middle;
                } else {
                    high = middle - 1;
                }
            }
            from = low;
            boolean enlarged = true;
            while (enlarged) {
                enlarged = enlarge();
            }
            return new Nogood(from, to, sizes, further);
        }

        /**
         * Enlarges every size as far as possible, starting with those that cost least to enlarge.
         */
        private boolean enlarge() {
            int[] order =
                    IntStream.rangeClosed(0, sizes.length)
                            .boxed()
                            .sorted(Comparator.comparingLong(this::cost))
                            .mapToInt(Integer::intValue)
                            .toArray();
            boolean enlarged = false;
            for (int object : order) {
                int rank = largest(object);
                enlarged |= rank > rank(object);
                if (object < sizes.length) {
                    sizes[object] = rank;
                } else {
                    further = rank;
                }
            }
            return enlarged;
        }

        /** Returns the largest rank of an object for which the result is the same. */
        private int largest(int object) {
            int low = rank(object);
            int high = object == 0 ? sweep.highestRank() : sizes[object - 1];
            while (low < high) {
                int rank = (low + high + 1) >>> 1;
                if (isTooSmall(from, object, rank)) {
                    low = rank;
                } else {
                    high = rank - 1;
                }
            }
            return low;
        }

        /** Returns the number of bytes by which the sum of sizes must grow to enlarge an object. */
        private long cost(int object) {
            int rank = Math.min(sweep.highestRank(), rank(object) + 1);
            long cost = 0;
            for (int i = 0; i <= object; i++) {
                int own = rank(i);
                if (own < rank) {
                    cost += sweep.bytesOf(rank) - (own == 0 ? 0 : sweep.bytesOf(own));
                }
            }
            return cost;
        }

        private int rank(int object) {
            return object < sizes.length ? sizes[object] : further;
        }

        /**
         * Returns whether the units still do not fit if an object, or all further ones, are larger.
         */
        private boolean isTooSmall(int first, int object, int rank) {
            int tail = object == sizes.length ? rank : further;
            int[] objects = Arrays.copyOf(sizes, sizes.length + (tail > 0 ? mostAlive : 0));
            Arrays.fill(objects, sizes.length, objects.length, tail);
            if (object < sizes.length) {
                objects[object] = rank;
            }
            NodeBudget trial = budget.share(nodesPerTrial);
            Fitting fitting = new Fitting(sweep, first, to, objects, trial);
            budget.giveBack(trial);
            return fitting.outcome() == Outcome.DOES_NOT_FIT;
        }
    }
}
