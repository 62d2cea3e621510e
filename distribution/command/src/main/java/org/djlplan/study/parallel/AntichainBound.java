package org.djlplan.study.parallel;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;

/**
 * Computes a lower bound for plans of engines without serial order: the weight of the heaviest set
 * of units that all conflict with each other, so that no two share a byte.
 *
 * <p>Conflicts of a graph ({@link ParallelUse}) are the pairs of tensors that a partial order
 * leaves unordered, so such a set is an antichain. By Dilworth's theorem, with sizes as
 * multiplicities, the heaviest antichain weighs as much as the minimum number of one-byte chains
 * that cover all units: the sum of sizes minus the maximum flow of bytes from units to later units.
 * If conflicts are an arbitrary list, the relation "later" is first made transitive. This leaves
 * fewer antichains; the bound is still valid.
 *
 * <p>The flow is Dinic's, over bit sets: O(V²·E) at worst for V units and E ordered pairs, under a
 * second in practice, and 8·V² bytes.
 */
public final class AntichainBound {

    /** The largest number of units whose antichains are weighed. */
    public static final int LARGEST_PROBLEM = 1_500;

    private static final int UNREACHED = Integer.MAX_VALUE;

    private final int count;

    /** Units that come after each. */
    private final BitSet[] after;

    /** Bytes of each unit that no later unit has taken over. */
    private final long[] given;

    private final long[] taken;

    /** Bytes that a unit (row) passes to a later one (column). */
    private final long[][] flow;

    private final int[] giverLevel;
    private final int[] takerLevel;

    private AntichainBound(PlanningProblem problem) {
        List<UsageRecord> units =
                problem.units().stream()
                        .sorted(Comparator.comparingInt(UsageRecord::first))
                        .toList();
        count = units.size();
        given = units.stream().mapToLong(UsageRecord::bytes).toArray();
        taken = given.clone();
        flow = new long[count][count];
        giverLevel = new int[count];
        takerLevel = new int[count];
        after = new BitSet[count];
        for (int i = count - 1; i >= 0; i--) {
            after[i] = new BitSet(count);
            for (int j = i + 1; j < count; j++) {
                if (!after[i].get(j) && !problem.conflict(units.get(i), units.get(j))) {
                    after[i].set(j);
                    after[i].or(after[j]);
                }
            }
        }
    }

    /**
     * Returns the bound in bytes; for a serial problem, or one with more than {@link
     * #LARGEST_PROBLEM} units, the maximum operator breadth.
     *
     * @throws ArithmeticException if the sum of all sizes does not fit into a long
     */
    public static long bytes(PlanningProblem problem) {
        if (problem.serial() || problem.units().size() > LARGEST_PROBLEM) {
            return LowerBounds.offsetBytes(problem.units());
        }
        long sum = UsageRecords.naiveBytes(problem.units());
        return sum - new AntichainBound(problem).largestFlow();
    }

    private long largestFlow() {
        long total = 0;
        while (findLevels()) {
            int[] nextTaker = new int[count];
            int[] nextGiver = new int[count];
            for (int i = 0; i < count; i++) {
                long pushed = 1;
                while (given[i] > 0 && pushed > 0) {
                    pushed = push(i, given[i], nextTaker, nextGiver);
                    given[i] -= pushed;
                    total += pushed;
                }
            }
        }
        return total;
    }

    /**
     * Numbers units by their distance from units with bytes to give; returns whether any of them
     * reach a taker.
     */
    private boolean findLevels() {
        Arrays.fill(giverLevel, UNREACHED);
        Arrays.fill(takerLevel, UNREACHED);
        ArrayDeque<Integer> givers = new ArrayDeque<>();
        for (int i = 0; i < count; i++) {
            if (given[i] > 0) {
                giverLevel[i] = 0;
                givers.add(i);
            }
        }
        BitSet unreached = new BitSet(count);
        unreached.set(0, count);
        boolean found = false;
        while (!givers.isEmpty()) {
            int giver = givers.remove();
            BitSet takers = (BitSet) after[giver].clone();
            takers.and(unreached);
            unreached.andNot(takers);
            for (int j = takers.nextSetBit(0); j >= 0; j = takers.nextSetBit(j + 1)) {
                takerLevel[j] = giverLevel[giver] + 1;
                found |= taken[j] > 0;
                for (int k = 0; k < j; k++) {
                    if (flow[k][j] > 0 && giverLevel[k] == UNREACHED) {
                        giverLevel[k] = takerLevel[j] + 1;
                        givers.add(k);
                    }
                }
            }
        }
        return found;
    }

    /**
     * Passes on up to {@code bytes} of a giver, one level at a time; returns the number of bytes.
     */
    private long push(int giver, long bytes, int[] nextTaker, int[] nextGiver) {
        for (int j = after[giver].nextSetBit(nextTaker[giver]);
                j >= 0;
                j = after[giver].nextSetBit(j + 1)) {
            nextTaker[giver] = j;
            if (takerLevel[j] == giverLevel[giver] + 1) {
                long pushed = take(j, bytes, nextTaker, nextGiver);
                if (pushed > 0) {
                    flow[giver][j] += pushed;
                    return pushed;
                }
            }
        }
        nextTaker[giver] = count;
        return 0;
    }

    /** Takes bytes, or makes an earlier giver find another taker. */
    private long take(int taker, long bytes, int[] nextTaker, int[] nextGiver) {
        if (taken[taker] > 0) {
            long pushed = Math.min(bytes, taken[taker]);
            taken[taker] -= pushed;
            return pushed;
        }
        for (; nextGiver[taker] < taker; nextGiver[taker]++) {
            int k = nextGiver[taker];
            if (flow[k][taker] > 0 && giverLevel[k] == takerLevel[taker] + 1) {
                long pushed = push(k, Math.min(bytes, flow[k][taker]), nextTaker, nextGiver);
                if (pushed > 0) {
                    flow[k][taker] -= pushed;
                    return pushed;
                }
            }
        }
        return 0;
    }
}
