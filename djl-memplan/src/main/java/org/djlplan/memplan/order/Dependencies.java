package org.djlplan.memplan.order;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSortedSet;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;

/**
 * Which operators must run before which: a reader after the writer of what it reads, a writer after
 * the readers and the writer of what it overwrites, and operators with side effects as they stand.
 * Temporaries count as written. O(n + e) sets for n operators that use tensors e times.
 */
final class Dependencies {

    /** What has happened to one tensor so far. */
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
            operator.outputs().forEach(id -> dependencies.write(id, operator.index(), waitsFor));
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
