package org.djlplan.study.shared;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.djlplan.memplan.internal.usage.UnitOrders;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Min-cost Flow (Lee et al. 2019, on the memory manager): every unit either follows a finished unit
 * in that unit's object, at the cost of the bytes by which it is larger, or gets a new object at
 * the cost of its own size. Each unit is followed by at most one unit. The choice with the smallest
 * sum of costs is a minimum-cost flow. The sum overstates the objects' sizes: an object that holds
 * a large, a small and a large unit in turn grows once but is charged twice.
 *
 * <p>The flow is on a bipartite graph, so it is found as an assignment: unit by unit, by the
 * shortest path in reduced costs that gives it a predecessor or a new object (Kuhn 1955, Munkres
 * 1957). The O(n²) edges are not stored but computed from the records: O(n) memory, O(n³) time in
 * the worst case. Of equally short paths the one to the unit that starts first is taken.
 */
final class MinCostFlow {

    private MinCostFlow() {}

    /**
     * One search, with the units in execution order as columns (predecessors) and rows
     * (successors).
     */
    private static final class Assignment {

        private final int[] first;
        private final int[] last;
        private final long[] bytes;

        /** The column of new objects, which any number of rows may use. */
        private final int newObject;

        private final long[] rowPotential;
        private final long[] columnPotential;

        /** The row that uses each column, or −1. */
        private final int[] follower;

        Assignment(List<UsageRecord> units) {
            first = units.stream().mapToInt(UsageRecord::first).toArray();
            last = units.stream().mapToInt(UsageRecord::last).toArray();
            bytes = units.stream().mapToLong(UsageRecord::bytes).toArray();
            newObject = units.size();
            rowPotential = new long[units.size()];
            columnPotential = new long[units.size() + 1];
            follower = new int[units.size() + 1];
            Arrays.fill(follower, -1);
        }

        private boolean isEdge(int column, int row) {
            return column == newObject || last[column] < first[row];
        }

        private long reducedCost(int column, int row) {
            long held = column == newObject ? 0 : bytes[column];
            return Math.max(0, bytes[row] - held) - rowPotential[row] - columnPotential[column];
        }

        /** Gives {@code row} a column, along the shortest path. */
        void add(int row) {
            long[] distance = new long[newObject + 1];
            int[] previous = new int[newObject + 1];
            boolean[] reached = new boolean[newObject + 1];
            boolean[] done = new boolean[newObject + 1];
            int at = row;
            int from = -1;
            long travelled = 0;
            while (true) {
                int next = -1;
                for (int i = 0; i <= row; i++) {
                    // No unit that starts later is finished before this row or an earlier one
                    // starts.
                    int column = i < row ? i : newObject;
                    if (done[column]) {
                        continue;
                    }
                    if (isEdge(column, at)) {
                        long through = travelled + reducedCost(column, at);
                        if (!reached[column] || through < distance[column]) {
                            reached[column] = true;
                            distance[column] = through;
                            previous[column] = from;
                        }
                    }
                    if (reached[column] && (next < 0 || distance[column] < distance[next])) {
                        next = column;
                    }
                }
                travelled = distance[next];
                from = next;
                if (next == newObject || follower[next] < 0) {
                    break;
                }
                done[next] = true;
                at = follower[next];
            }
            rowPotential[row] += travelled;
            for (int column = 0; column < newObject; column++) {
                if (done[column]) {
                    rowPotential[follower[column]] += travelled - distance[column];
                    columnPotential[column] -= travelled - distance[column];
                }
            }
            for (int column = from; column >= 0; column = previous[column]) {
                int before = previous[column];
                follower[column] = before < 0 ? row : follower[before];
            }
            follower[newObject] = -1;
        }
    }

    /**
     * Returns the number of every unit's object, by tensor id.
     *
     * @throws ArithmeticException if the sizes add up to more than a long holds
     */
    static Map<Integer, Integer> objects(List<UsageRecord> all) {
        List<UsageRecord> units = ImmutableList.sortedCopyOf(UnitOrders::byFirst, all);
        // No potential and no distance exceeds this sum.
        UsageRecords.naiveBytes(units);
        Assignment assignment = new Assignment(units);
        for (int row = 0; row < units.size(); row++) {
            assignment.add(row);
        }
        int[] objects = new int[units.size()];
        Arrays.fill(objects, -1);
        int opened = 0;
        Map<Integer, Integer> byTensor = new HashMap<>();
        for (int i = 0; i < units.size(); i++) {
            if (objects[i] < 0) {
                objects[i] = opened++;
            }
            byTensor.put(units.get(i).tensor(), objects[i]);
            if (assignment.follower[i] >= 0) {
                objects[assignment.follower[i]] = objects[i];
            }
        }
        return byTensor;
    }
}
