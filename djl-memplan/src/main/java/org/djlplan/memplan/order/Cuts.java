package org.djlplan.memplan.order;

import com.google.common.collect.ImmutableList;
import java.util.List;

/**
 * Finds the nodes that every other node either leads to or is reached from: all orders execute the
 * same nodes before them, so each side can be searched alone.
 *
 * <p>Nodes stand in an order in which they can run. All earlier nodes lead to a node exactly if,
 * among it and them, it is the only one that none waits for; all later nodes are reached from it
 * exactly if, among it and them, it is the only one that waits for none. O(n + e) for e pairs of
 * nodes of which one waits for the other.
 */
final class Cuts {

    private Cuts() {}

    /** Returns where segments end: one past each cut, and one past the last node. */
    static ImmutableList<Integer> ends(List<Nodes.Node> nodes) {
        int count = nodes.size();
        boolean[] onlySink = new boolean[count];
        boolean[] waitedFor = new boolean[count];
        int[] latestBefore = new int[count];
        int sinks = 0;
        for (int i = 0; i < count; i++) {
            sinks++;
            // A node that waits for none counts as waiting for one before all nodes.
            latestBefore[i] = nodes.get(i).before().isEmpty() ? -1 : nodes.get(i).before().last();
            for (int earlier : nodes.get(i).before()) {
                sinks -= waitedFor[earlier] ? 0 : 1;
                waitedFor[earlier] = true;
            }
            onlySink[i] = sinks == 1;
        }
        ImmutableList.Builder<Integer> ends = ImmutableList.builder();
        boolean[] cut = new boolean[count];
        int earliestOfLater = Integer.MAX_VALUE;
        for (int i = count - 1; i >= 0; i--) {
            // Every later node waits for this one or one after it.
            cut[i] = onlySink[i] && earliestOfLater >= i;
            earliestOfLater = Math.min(earliestOfLater, latestBefore[i]);
        }
        for (int i = 0; i < count; i++) {
            if (cut[i] || i == count - 1) {
                ends.add(i + 1);
            }
        }
        return ends.build();
    }
}
