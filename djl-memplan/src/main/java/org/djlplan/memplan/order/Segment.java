package org.djlplan.memplan.order;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.Lists;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A run of nodes that is put in order alone. A closed one is executed together by every order:
 * after all nodes before it and before all nodes after it. Nodes are numbered anew from 0.
 */
final class Segment {

    /** How a planned tensor is used. */
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

    /** Longer runs between two cuts are divided: sets of their nodes would take too much memory. */
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

    /** One stretch of nodes, from {@code first} to before {@code end}. */
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
        for (int end : Cuts.ends(all.nodes())) {
            boolean closed = end - first <= LARGEST;
            while (first < end) {
                int part = Math.min(end, first + LARGEST);
                segments.add(new Segment(all, new Range(first, part, closed), lives));
                first = part;
            }
        }
        return segments.build();
    }
}
