package org.djlplan.memplan.order;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSortedSet;
import com.google.common.collect.Iterables;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.usage.UsageRecord;
import org.djlplan.memplan.usage.UsageRecords;

/**
 * The nodes that the search puts in order: operators, or groups of them that some smallest order
 * executes one right after the other.
 *
 * <ul>
 *   <li>An operator that waits for nothing, frees nothing and has a single successor runs right
 *       before it: earlier, its output would only be alive longer.
 *   <li>An operator that nothing waits for and that adds nothing to what its single predecessor
 *       touches runs right after it: later, what it reads would only be alive longer.
 * </ul>
 *
 * Without these, weights that are computed from constants and heads of a network would keep it from
 * falling into segments.
 *
 * @param bytes size of each planned tensor, by id
 * @param nodes in the order of the graph; each waits for earlier ones only
 */
record Nodes(Map<Integer, Long> bytes, List<Node> nodes) {

    /**
     * One node.
     *
     * @param operators in the order to execute
     * @param before the nodes that it directly waits for
     * @param tensors ids of the planned tensors that it touches
     */
    record Node(
            ImmutableList<Integer> operators,
            ImmutableSortedSet<Integer> before,
            ImmutableSortedSet<Integer> tensors) {}

    /** Groups the operators of a graph; everything by operator. */
    private static final class Grouping {
        private final List<ImmutableSortedSet<Integer>> before;
        private final List<Set<Integer>> after = new ArrayList<>();
        private final List<ImmutableSortedSet<Integer>> tensors = new ArrayList<>();
        private final int[] host;

        Grouping(Graph graph, Set<Integer> planned) {
            before = Dependencies.of(graph);
            host = new int[before.size()];
            for (Operator operator : graph.operators()) {
                host[operator.index()] = operator.index();
                after.add(new TreeSet<>());
                tensors.add(
                        ImmutableSortedSet.copyOf(
                                Iterables.filter(
                                        Iterables.concat(
                                                operator.inputs(),
                                                operator.outputs(),
                                                operator.temporaries()),
                                        planned::contains)));
            }
            for (int i = 0; i < host.length; i++) {
                for (int earlier : before.get(i)) {
                    after.get(earlier).add(i);
                }
            }
        }

        private boolean isSource(Graph graph, int i) {
            return before.get(i).isEmpty()
                    && after.get(i).size() == 1
                    && tensors.get(Iterables.getOnlyElement(after.get(i)))
                            .containsAll(tensors.get(i))
                    && graph.operators().get(i).outputs().containsAll(tensors.get(i))
                    && !SideEffects.has(graph, graph.operators().get(i));
        }

        private boolean isSink(Graph graph, int i) {
            if (!after.get(i).isEmpty()
                    || before.get(i).size() != 1
                    || SideEffects.has(graph, graph.operators().get(i))) {
                return false;
            }
            int earlier = before.get(i).first();
            return host[earlier] == earlier
                    && tensors.get(earlier).containsAll(tensors.get(i))
                    && host[i] == i;
        }
    }

    Nodes {
        nodes = ImmutableList.copyOf(nodes);
    }

    static Nodes of(Graph graph) {
        Map<Integer, Long> bytes = new HashMap<>();
        for (UsageRecord record : UsageRecords.of(graph)) {
            bytes.put(record.tensor(), record.bytes());
        }
        Grouping grouping = new Grouping(graph, bytes.keySet());
        int count = graph.operators().size();
        int[] host = grouping.host;
        List<List<Integer>> members = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            members.add(new ArrayList<>());
        }
        for (int i = 0; i < count; i++) {
            if (grouping.isSource(graph, i)) {
                host[i] = Iterables.getOnlyElement(grouping.after.get(i));
                members.get(host[i]).add(i);
            }
        }
        for (int i = 0; i < count; i++) {
            if (host[i] == i) {
                members.get(i).add(i);
            }
        }
        for (int i = 0; i < count; i++) {
            // A group of its own has more than one member; it stays where it is.
            if (members.get(i).size() == 1 && grouping.isSink(graph, i)) {
                host[i] = grouping.before.get(i).first();
                members.get(host[i]).add(i);
                members.get(i).clear();
            }
        }
        return new Nodes(bytes, number(grouping, members));
    }

    private static List<Node> number(Grouping grouping, List<List<Integer>> members) {
        int[] number = new int[members.size()];
        List<Node> nodes = new ArrayList<>();
        for (int i = 0; i < number.length; i++) {
            if (grouping.host[i] != i) {
                continue;
            }
            number[i] = nodes.size();
            Set<Integer> before = new TreeSet<>();
            Set<Integer> tensors = new TreeSet<>();
            for (int member : members.get(i)) {
                tensors.addAll(grouping.tensors.get(member));
                for (int earlier : grouping.before.get(member)) {
                    if (grouping.host[earlier] != i) {
                        before.add(number[grouping.host[earlier]]);
                    }
                }
            }
            nodes.add(
                    new Node(
                            ImmutableList.copyOf(members.get(i)),
                            ImmutableSortedSet.copyOf(before),
                            ImmutableSortedSet.copyOf(tensors)));
        }
        return nodes;
    }

    /**
     * Returns where segments end: one past each cut, and one past the last node. A cut is a node
     * that every other node either leads to or is reached from: all orders execute the same nodes
     * before it, so each side can be searched alone (Ahn et al. 2020, section 3.2).
     *
     * <p>Nodes stand in an order in which they can run. All earlier nodes lead to a node exactly
     * if, among it and them, it is the only one that none waits for; all later nodes are reached
     * from it exactly if, among it and them, it is the only one that waits for none. O(n + e) for e
     * pairs of nodes of which one waits for the other.
     */
    ImmutableList<Integer> segmentEnds() {
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

    /**
     * Finds which operators must run before which: a reader after the writer of what it reads, a
     * writer after the readers and the writer of what it overwrites, and operators with side
     * effects as they stand. Temporaries count as written. O(n + e) sets for n operators that use
     * tensors e times.
     */
    private static final class Dependencies {

        /** The uses of one tensor so far. */
        private static final class Uses {
            private OptionalInt writer = OptionalInt.empty();
            private final List<Integer> readersSince = new ArrayList<>();
        }

        private final Map<Integer, Uses> uses = new HashMap<>();

        private Dependencies() {}

        /** Returns for each operator those that it directly waits for. */
        static ImmutableList<ImmutableSortedSet<Integer>> of(Graph graph) {
            Dependencies dependencies = new Dependencies();
            ImmutableList.Builder<ImmutableSortedSet<Integer>> before = ImmutableList.builder();
            OptionalInt lastWithEffects = OptionalInt.empty();
            for (Operator operator : graph.operators()) {
                Set<Integer> waitsFor = new TreeSet<>();
                operator.inputs().forEach(id -> dependencies.read(id, operator.index(), waitsFor));
                operator.outputs()
                        .forEach(id -> dependencies.write(id, operator.index(), waitsFor));
                operator.temporaries()
                        .forEach(id -> dependencies.write(id, operator.index(), waitsFor));
                if (SideEffects.has(graph, operator)) {
                    lastWithEffects.ifPresent(waitsFor::add);
                    lastWithEffects = OptionalInt.of(operator.index());
                }
                waitsFor.remove(operator.index());
                before.add(ImmutableSortedSet.copyOf(waitsFor));
            }
            return before.build();
        }

        private Uses usesOf(int tensor) {
            return uses.computeIfAbsent(tensor, id -> new Uses());
        }

        private void read(int tensor, int operator, Set<Integer> waitsFor) {
            Uses of = usesOf(tensor);
            of.writer.ifPresent(waitsFor::add);
            of.readersSince.add(operator);
        }

        private void write(int tensor, int operator, Set<Integer> waitsFor) {
            Uses of = usesOf(tensor);
            of.writer.ifPresent(waitsFor::add);
            waitsFor.addAll(of.readersSince);
            of.readersSince.clear();
            of.writer = OptionalInt.of(operator);
        }
    }
}
