package org.djlplan.cli.tune;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.study.delegation.Correlation;
import org.djlplan.study.delegation.Correlation.Feature;
import org.djlplan.study.delegation.Piece;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/**
 * The result of a study of a model's partitions.
 *
 * @param model its name
 * @param operators number of operators
 * @param partitions number of partitions that the delegate reported
 * @param threads per prediction, −1 for the engine's default
 * @param costs of the partitions that run in the delegate, in execution order
 * @param wanted number of sets that were to be measured
 * @param sets measured sets, the smaller ones first
 * @param rule the partitions, numbered from 1, that TensorFlow Lite's own rule delegates for a
 *     limit of 1, 2, … partitions
 * @param usual result of a usual profiling run
 * @param inferences number of inferences of the sets
 * @param nanos duration of measuring the sets
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
     * One partition with its times in the delegate and in the CPU kernels.
     *
     * @param unit the partition
     * @param cpuNanos of its operators in the CPU kernels
     * @param delegateNanos of its operators in the delegate
     */
    record PartitionCost(Piece unit, long cpuNanos, long delegateNanos) {

        PartitionCost {
            checkArgument(cpuNanos >= 0 && delegateNanos >= 0, "%s, %s", cpuNanos, delegateNanos);
        }

        /**
         * Returns the time that delegating the partition saves, negative if the delegate is slower.
         */
        long savedNanos() {
            return cpuNanos - delegateNanos;
        }
    }

    /**
     * A set of partitions that was tried.
     *
     * @param partitions the partitions from which the set has operators, numbered from 1
     * @param whole whether it contains each of these partitions completely
     * @param name readable name
     * @param entry result of the trial
     */
    record SetTime(Set<Integer> partitions, boolean whole, String name, Entry entry) {

        SetTime {
            partitions = ImmutableSet.copyOf(partitions);
        }

        Optional<Entry.Measured> measured() {
            return entry instanceof Entry.Measured it ? Optional.of(it) : Optional.empty();
        }

        /** Returns the median latency; empty if the set did not run or its outputs were wrong. */
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

    /** Returns the entry of a set of whole partitions, if it was tried. */
    Optional<SetTime> set(Set<Integer> wholePartitions) {
        return sets.stream()
                .filter(set -> set.whole() && set.partitions().equals(wholePartitions))
                .findFirst();
    }

    /** Returns the set that the usual run chose, as measured together with the other sets. */
    Optional<SetTime> usualChoice() {
        return sets.stream()
                .filter(set -> set.entry().candidate().equals(usual.chosen()))
                .findFirst();
    }

    /** Returns how well each feature of partitions predicts the time saved by delegating them. */
    Map<Feature, OptionalDouble> correlations() {
        return Correlation.withSavedNanos(
                costs.stream().map(PartitionCost::unit).toList(),
                costs.stream().map(PartitionCost::savedNanos).toList());
    }
}
