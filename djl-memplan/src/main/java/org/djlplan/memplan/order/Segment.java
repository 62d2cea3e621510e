package org.djlplan.memplan.order;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.Lists;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A run of nodes that is put in order alone. A closed one is executed together by every order:
 * after all nodes before it and before all nodes after it. Nodes are numbered anew from 0.
 */
final class Segment {

    /** A planned tensor and the nodes that use it. */
    private static final class Use {
        private final long bytes;
        private final long[] users;
        private boolean entersAlive;
        private boolean leavesAlive;

        Use(long bytes, int words) {
            this.bytes = bytes;
            users = new long[words];
        }

        private Use(Use of) {
            bytes = of.bytes;
            users = of.users;
            entersAlive = of.leavesAlive;
            leavesAlive = of.entersAlive;
        }
    }

    /**
     * Longer ranges between two cuts are divided: sets of their nodes would take too much memory.
     */
    private static final int LARGEST = 4096;

    private final int first;
    private final boolean closed;
    private final int words;
    private final int[][] before;
    private final long[][] beforeMask;
    private final int[][] after;
    private final Use[][] touched;
    private final ImmutableList<Use> uses;
    private final long throughBytes;

    /** A range of nodes, from {@code first} to before {@code end}. */
    private record Range(int first, int end, boolean closed) {}

    private Segment(Nodes all, Range range, Lives lives) {
        first = range.first;
        closed = range.closed;
        int size = range.end - first;
        words = Masks.words(size);
        before = new int[size][];
        touched = new Use[size][];
        Map<Integer, Use> byTensor = new TreeMap<>();
        for (int i = 0; i < size; i++) {
            Nodes.Node node = all.nodes().get(first + i);
            before[i] =
                    node.before().stream()
                            .filter(earlier -> earlier >= first)
                            .mapToInt(earlier -> earlier - first)
                            .toArray();
            touched[i] = new Use[node.tensors().size()];
            int count = 0;
            for (int id : node.tensors()) {
                touched[i][count] =
                        byTensor.computeIfAbsent(id, t -> new Use(all.bytes().get(t), words));
                Masks.set(touched[i][count++].users, i);
            }
        }
        long through = lives.crossingBytes(first);
        for (Map.Entry<Integer, Use> entry : byTensor.entrySet()) {
            Use use = entry.getValue();
            use.entersAlive = lives.first(entry.getKey()) < first;
            use.leavesAlive = lives.last(entry.getKey()) >= range.end;
            through -= use.entersAlive ? use.bytes : 0;
        }
        throughBytes = through;
        uses = ImmutableList.copyOf(byTensor.values());
        beforeMask = masks(before);
        after = invert(before);
    }

    /** The same run backwards in time: breadths are the same, what enters leaves. */
    private Segment(Segment of) {
        first = of.first;
        closed = of.closed;
        words = of.words;
        throughBytes = of.throughBytes;
        before = of.after;
        after = of.before;
        beforeMask = masks(before);
        IdentityHashMap<Use, Use> reversed = new IdentityHashMap<>();
        of.uses.forEach(use -> reversed.put(use, new Use(use)));
        uses = ImmutableList.copyOf(Lists.transform(of.uses, reversed::get));
        touched = new Use[of.touched.length][];
        for (int i = 0; i < touched.length; i++) {
            touched[i] = Arrays.stream(of.touched[i]).map(reversed::get).toArray(Use[]::new);
        }
    }

    /**
     * Returns the segment as it runs backwards in time: its orders are those of this one, reversed,
     * with the same breadths.
     */
    Segment reversed() {
        return new Segment(this);
    }

    private static long[][] masks(int[][] sets) {
        long[][] masks = new long[sets.length][Masks.words(sets.length)];
        for (int i = 0; i < sets.length; i++) {
            for (int member : sets[i]) {
                Masks.set(masks[i], member);
            }
        }
        return masks;
    }

    private static int[][] invert(int[][] before) {
        int[] counts = new int[before.length];
        for (int[] each : before) {
            for (int earlier : each) {
                counts[earlier]++;
            }
        }
        int[][] after = new int[before.length][];
        for (int i = 0; i < after.length; i++) {
            after[i] = new int[counts[i]];
        }
        for (int i = before.length - 1; i >= 0; i--) {
            for (int earlier : before[i]) {
                after[earlier][--counts[earlier]] = i;
            }
        }
        return after;
    }

    /** Returns the number of nodes. */
    int size() {
        return before.length;
    }

    /** Returns the first node's number among all nodes. */
    int first() {
        return first;
    }

    /** Returns the state in which nothing is executed. */
    State start() {
        long alive = throughBytes;
        for (Use use : uses) {
            alive += use.entersAlive ? use.bytes : 0;
        }
        int[] ready = new int[size()];
        int count = 0;
        for (int i = 0; i < size(); i++) {
            if (before[i].length == 0) {
                ready[count++] = i;
            }
        }
        return State.start(new long[words], Arrays.copyOf(ready, count), alive);
    }

    /** Returns what {@link #execute} costs, in words looked at. */
    long costOf(int node) {
        return (long) words * (2L + touched[node].length + after[node].length);
    }

    /** Returns the state after one more node, which is ready. */
    State execute(State state, int node) {
        long[] done = state.done().clone();
        Masks.set(done, node);
        long breadth = state.aliveBytes();
        long freed = 0;
        for (Use use : touched[node]) {
            if (!use.entersAlive && Masks.disjoint(use.users, state.done())) {
                breadth += use.bytes;
            }
            if (!use.leavesAlive && Masks.contains(done, use.users)) {
                freed += use.bytes;
            }
        }
        return state.next(node, done, ready(state, node, done), breadth, breadth - freed);
    }

    private int[] ready(State state, int node, long[] done) {
        int[] ready = new int[state.ready().length - 1 + after[node].length];
        int count = 0;
        for (int other : state.ready()) {
            if (other != node) {
                ready[count++] = other;
            }
        }
        for (int later : after[node]) {
            if (Masks.contains(done, beforeMask[later])) {
                ready[count++] = later;
            }
        }
        int[] trimmed = Arrays.copyOf(ready, count);
        Arrays.sort(trimmed);
        return trimmed;
    }

    /** Returns the state after all nodes in their own order. */
    State inOrder() {
        State state = start();
        for (int i = 0; i < size(); i++) {
            state = execute(state, i);
        }
        return state;
    }

    /** Returns whether every order executes these nodes together. */
    boolean closed() {
        return closed;
    }

    /**
     * Returns what no order of a closed segment can go below: at each node, what it touches, and
     * what lies between its predecessors and its successors.
     */
    long lowerBoundBytes() {
        long[][] ancestors = closure(before, false);
        long[][] descendants = closure(after, true);
        long[] breadth = new long[size()];
        Arrays.fill(breadth, throughBytes);
        for (Use use : uses) {
            long[] alive = new long[words];
            Arrays.fill(alive, use.entersAlive ? -1 : 0);
            long[] needed = new long[words];
            Arrays.fill(needed, use.leavesAlive ? -1 : 0);
            for (int i = 0; i < size(); i++) {
                if (Masks.has(use.users, i)) {
                    Masks.addAll(alive, descendants[i]);
                    Masks.addAll(needed, ancestors[i]);
                }
            }
            for (int i = 0; i < size(); i++) {
                if (Masks.has(use.users, i) || (Masks.has(alive, i) && Masks.has(needed, i))) {
                    breadth[i] += use.bytes;
                }
            }
        }
        return Arrays.stream(breadth).max().orElse(0);
    }

    private long[][] closure(int[][] direct, boolean backwards) {
        long[][] closure = new long[size()][words];
        for (int step = 0; step < size(); step++) {
            int i = backwards ? size() - 1 - step : step;
            for (int next : direct[i]) {
                Masks.set(closure[i], next);
                Masks.addAll(closure[i], closure[next]);
            }
        }
        return closure;
    }

    /** Returns the segments of a graph in order, each as small as the graph's cuts make it. */
    static List<Segment> of(Nodes all) {
        Lives lives = new Lives(all);
        ImmutableList.Builder<Segment> segments = ImmutableList.builder();
        int first = 0;
        for (int end : all.segmentEnds()) {
            boolean closed = end - first <= LARGEST;
            while (first < end) {
                int part = Math.min(end, first + LARGEST);
                segments.add(new Segment(all, new Range(first, part, closed), lives));
                first = part;
            }
        }
        return segments.build();
    }

    /**
     * From which node to which each planned tensor is used, with the nodes in the graph's order.
     */
    private static final class Lives {

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

    /** Sets of small numbers as bits, all of one length. */
    private static final class Masks {

        private Masks() {}

        static int words(int size) {
            return (size + Long.SIZE - 1) / Long.SIZE;
        }

        static void set(long[] mask, int number) {
            mask[number / Long.SIZE] |= 1L << number;
        }

        static boolean has(long[] mask, int number) {
            return (mask[number / Long.SIZE] >>> number & 1) != 0;
        }

        static void addAll(long[] mask, long[] others) {
            for (int i = 0; i < mask.length; i++) {
                mask[i] |= others[i];
            }
        }

        static boolean disjoint(long[] one, long[] other) {
            for (int i = 0; i < one.length; i++) {
                if ((one[i] & other[i]) != 0) {
                    return false;
                }
            }
            return true;
        }

        /** Returns whether {@code outer} has all of {@code inner}. */
        static boolean contains(long[] outer, long[] inner) {
            for (int i = 0; i < outer.length; i++) {
                if ((inner[i] & ~outer[i]) != 0) {
                    return false;
                }
            }
            return true;
        }
    }
}
