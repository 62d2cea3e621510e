package org.djlplan.delegation.cli;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import org.djlplan.delegation.partition.Piece;
import org.djlplan.delegation.study.Correlation;
import org.djlplan.delegation.study.Correlation.Feature;
import org.djlplan.delegation.table.Entry;
import org.djlplan.delegation.table.ProfileTable;

/**
 * Findings of a study of a model's partitions.
 *
 * @param model its name
 * @param operators how many it has
 * @param partitions how many the delegate reported
 * @param threads per prediction, −1 for the engine's default
 * @param costs of the partitions that run in the delegate, in execution order
 * @param wanted how many sets were to be measured
 * @param sets what was measured, the smaller ones first
 * @param rule the partitions, counted from 1, that TFLite's own rule delegates if at most 1, 2, …
 *     may be
 * @param usual what a usual profiling run found
 * @param inferences how many inferences the sets took
 * @param nanos how long the sets took
 */
record Study(
        String model,
        int operators,
        int partitions,
        int threads,
        List<PartitionCost> costs,
        int wanted,
        List<SetTime> sets,
        List<? extends Set<Integer>> rule,
        ProfileTable usual,
        int inferences,
        long nanos) {

    /**
     * One partition with its times.
     *
     * @param unit the partition
     * @param cpuNanos of its operators in the CPU kernels
     * @param delegateNanos of them in the delegate
     */
    record PartitionCost(Piece unit, long cpuNanos, long delegateNanos) {

        PartitionCost {
            checkArgument(cpuNanos >= 0 && delegateNanos >= 0, "%s, %s", cpuNanos, delegateNanos);
        }

        /** Returns what it saves to delegate it, negative where the delegate is slower. */
        long savedNanos() {
            return cpuNanos - delegateNanos;
        }
    }

    /**
     * One set that was tried.
     *
     * @param partitions of which it has operators, counted from 1
     * @param whole whether it has all of each, not parts
     * @param name for people
     * @param entry how it went
     */
    record SetTime(Set<Integer> partitions, boolean whole, String name, Entry entry) {

        SetTime {
            partitions = ImmutableSet.copyOf(partitions);
        }

        Optional<Entry.Measured> measured() {
            return entry instanceof Entry.Measured it ? Optional.of(it) : Optional.empty();
        }

        /** Returns the median latency; empty if it did not run, or not right. */
        Optional<Long> medianNanos() {
            return measured().map(it -> it.latency().medianNanos());
        }
    }

    Study {
        costs = ImmutableList.copyOf(costs);
        sets = ImmutableList.copyOf(sets);
        rule = ImmutableList.copyOf(rule);
    }

    /** Returns the sets that ran, the fastest first. */
    ImmutableList<SetTime> fastest() {
        return sets.stream()
                .filter(set -> set.measured().isPresent())
                .sorted(Comparator.comparing(set -> set.medianNanos().orElseThrow()))
                .collect(ImmutableList.toImmutableList());
    }

    /** Returns a set of whole partitions, if it was tried. */
    Optional<SetTime> set(Set<Integer> wholePartitions) {
        return sets.stream()
                .filter(set -> set.whole() && set.partitions().equals(wholePartitions))
                .findFirst();
    }

    /** Returns the set that the usual run chose, as measured with the others. */
    Optional<SetTime> ours() {
        return sets.stream()
                .filter(set -> set.entry().candidate().equals(usual.chosen()))
                .findFirst();
    }

    /** Returns how well each feature of partitions predicts what it saves to delegate them. */
    Map<Feature, OptionalDouble> correlations() {
        return Correlation.withSavedNanos(
                costs.stream().map(PartitionCost::unit).toList(),
                costs.stream().map(PartitionCost::savedNanos).toList());
    }
}
