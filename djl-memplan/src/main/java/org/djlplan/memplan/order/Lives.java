package org.djlplan.memplan.order;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** From which node to which each planned tensor is used, with the nodes in the graph's order. */
final class Lives {

    private final Map<Integer, Integer> first = new HashMap<>();
    private final Map<Integer, Integer> last = new HashMap<>();
    private final long[] crossingBytes;

    /**
     * @throws ArithmeticException if the sizes add up to more than a long holds
     */
    Lives(Nodes all) {
        List<Nodes.Node> nodes = all.nodes();
        for (int i = 0; i < nodes.size(); i++) {
            for (int tensor : nodes.get(i).tensors()) {
                first.putIfAbsent(tensor, i);
                last.put(tensor, i);
            }
        }
        crossingBytes = new long[nodes.size() + 1];
        for (Map.Entry<Integer, Integer> start : first.entrySet()) {
            long bytes = all.bytes().get(start.getKey());
            crossingBytes[start.getValue() + 1] += bytes;
            int end = last.get(start.getKey()) + 1;
            if (end < crossingBytes.length) {
                crossingBytes[end] -= bytes;
            }
        }
        for (int i = 1; i < crossingBytes.length; i++) {
            crossingBytes[i] = Math.addExact(crossingBytes[i], crossingBytes[i - 1]);
        }
    }

    /** Returns the first node that uses a tensor. */
    int first(int tensor) {
        return first.get(tensor);
    }

    /** Returns the last node that uses a tensor. */
    int last(int tensor) {
        return last.get(tensor);
    }

    /** Returns the size of all tensors that are used both before a node and from it on. */
    long crossingBytes(int node) {
        return crossingBytes[node];
    }
}
