package org.djlplan.delegation.cli;

import com.google.common.collect.ContiguousSet;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Sets;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.djlplan.delegation.partition.PieceGraph;
import org.djlplan.delegation.study.FirstN;

/** Which sets of partitions a study measures. Partitions are given by their units' places. */
final class StudySets {

    /** All unions of so many partitions are measured: 1024. */
    static final int ALL_UNIONS = 10;

    private StudySets() {}

    /**
     * Returns the sets, the smaller ones first: every union of few partitions; of more, nothing,
     * everything, each partition alone, everything but each partition, and TFLite's first N for
     * every N.
     *
     * @param partitions what the delegate reported
     * @param units one per partition in which anything runs
     */
    static ImmutableList<ImmutableSet<Integer>> of(
            List<? extends Set<Integer>> partitions, PieceGraph units) {
        ContiguousSet<Integer> all = ContiguousSet.closedOpen(0, units.pieces().size());
        Set<Set<Integer>> sets = new LinkedHashSet<>();
        if (all.size() <= ALL_UNIONS) {
            sets.addAll(Sets.powerSet(all));
        } else {
            sets.add(Set.of());
            sets.add(all);
            for (int unit : all) {
                sets.add(Set.of(unit));
                sets.add(Sets.difference(all, Set.of(unit)).immutableCopy());
            }
            firstN(partitions, units).forEach(sets::add);
        }
        return sets.stream()
                .map(ImmutableSet::copyOf)
                .distinct()
                .sorted(Comparator.comparingInt(Set::size))
                .collect(ImmutableList.toImmutableList());
    }

    /** Returns what TFLite's rule delegates if at most 1, 2, … partitions may be. */
    static ImmutableList<ImmutableSet<Integer>> firstN(
            List<? extends Set<Integer>> partitions, PieceGraph units) {
        ImmutableList.Builder<ImmutableSet<Integer>> choices = ImmutableList.builder();
        for (int count = 1; count <= partitions.size(); count++) {
            Set<Integer> operators = FirstN.operators(partitions, count);
            ImmutableSet.Builder<Integer> choice = ImmutableSet.builder();
            for (int unit = 0; unit < units.pieces().size(); unit++) {
                if (operators.containsAll(units.pieces().get(unit).operators())) {
                    choice.add(unit);
                }
            }
            choices.add(choice.build());
        }
        return choices.build();
    }
}
