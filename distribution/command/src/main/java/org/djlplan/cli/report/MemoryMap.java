package org.djlplan.cli.report;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * A model's memory over time: the tensors that are alive at each step, and their place in each
 * strategy's plan.
 *
 * @param operators type of the operator of each step, in execution order; empty strings if the
 *     steps are not operators
 * @param stepNumbers number of each step in its file; if empty, steps are numbered from 0
 * @param tensors planned tensors first, then the model's inputs and outputs
 * @param breadthBytes sum of the planned tensors alive at each step
 * @param naiveBytes total size of all planned tensors, without shared memory
 * @param lowerBoundBytes maximum operator breadth
 * @param aliasedLowerBoundBytes the same with each alias class counted once
 * @param sharedObjectsLowerBoundBytes sum of positional maxima
 * @param strategies one per plan
 * @param best name of the smallest valid plan
 */
public record MemoryMap(
        List<String> operators,
        List<Integer> stepNumbers,
        List<Tensor> tensors,
        List<Long> breadthBytes,
        long naiveBytes,
        long lowerBoundBytes,
        long aliasedLowerBoundBytes,
        long sharedObjectsLowerBoundBytes,
        List<Strategy> strategies,
        String best) {

    /** The owner of a tensor's memory. */
    public enum Owner {
        /** The arena; the tensor is passed from one operator to others. */
        ARENA,
        /** The arena; the tensor is scratch memory of one operator. */
        TEMPORARY,
        /** The caller: inputs and outputs of the model. */
        IO
    }

    /**
     * One tensor.
     *
     * @param name possibly empty
     * @param shape dimensions, outermost first; empty where unknown
     * @param type of its elements; empty where unknown
     * @param bytes its size, aligned if it is planned
     * @param first first step that uses it
     * @param last last step that uses it, inclusive
     * @param producer step that writes it; empty where unknown
     * @param consumers steps that read it
     * @param alias index of the tensor whose place it may share
     */
    public record Tensor(
            String name,
            Optional<List<Integer>> shape,
            Optional<String> type,
            long bytes,
            int first,
            int last,
            OptionalInt producer,
            List<Integer> consumers,
            Owner owner,
            OptionalInt alias) {

        public Tensor {
            checkArgument(bytes >= 0, "a tensor of %s bytes", bytes);
            checkArgument(first >= 0 && first <= last, "alive from %s to %s", first, last);
            shape = shape.map(ImmutableList::copyOf);
            consumers = ImmutableList.copyOf(consumers);
        }

        /** Returns whether plans place the tensor. */
        boolean planned() {
            return owner != Owner.IO;
        }
    }

    /**
     * One plan.
     *
     * @param name of the strategy, with {@code "+in-place"} if tensors share places
     * @param totalBytes size of the arena, or of all shared objects together
     * @param millis how long planning took
     * @param valid whether the independent validator found no error
     * @param provedMinimal whether it is proved that no plan with this layout, in which the same
     *     tensors share places, is smaller
     * @param offsets offset in bytes of each placed tensor, by its index, with shared objects laid
     *     end to end; empty if not included
     * @param objects the shared objects; empty for one arena
     */
    public record Strategy(
            String name,
            Layout layout,
            long totalBytes,
            double millis,
            boolean valid,
            boolean provedMinimal,
            Optional<Map<Integer, Long>> offsets,
            List<Span> objects) {

        public Strategy {
            checkArgument(totalBytes >= 0, "a plan of %s bytes", totalBytes);
            offsets = offsets.map(ImmutableMap::copyOf);
            objects = ImmutableList.copyOf(objects);
        }

        Strategy withoutOffsets() {
            return new Strategy(
                    name,
                    layout,
                    totalBytes,
                    millis,
                    valid,
                    provedMinimal,
                    Optional.empty(),
                    objects);
        }
    }

    /** Form of a plan. */
    public enum Layout {
        /** Every tensor has its own place. */
        NAIVE,
        /** Every tensor has an offset in one arena. */
        OFFSETS,
        /** Buffers that hold one tensor at a time. */
        SHARED_OBJECTS
    }

    /** A shared object's place if all objects lie end to end. */
    public record Span(long offsetBytes, long bytes) {}

    public MemoryMap {
        operators = ImmutableList.copyOf(operators);
        stepNumbers = ImmutableList.copyOf(stepNumbers);
        tensors = ImmutableList.copyOf(tensors);
        breadthBytes = ImmutableList.copyOf(breadthBytes);
        strategies = ImmutableList.copyOf(strategies);
        int steps = operators.size();
        checkArgument(breadthBytes.size() == steps, "breadths of %s steps", breadthBytes.size());
        checkArgument(
                stepNumbers.isEmpty() || stepNumbers.size() == steps,
                "%s numbers of %s steps",
                stepNumbers.size(),
                steps);
        for (Tensor tensor : tensors) {
            checkArgument(tensor.last() < steps, "alive at %s of %s steps", tensor.last(), steps);
        }
        for (Strategy strategy : strategies) {
            strategy.offsets().orElse(Map.of()).values().stream()
                    // The last tensor in an engine's arena may end before its aligned size.
                    .filter(offset -> offset < 0 || offset > strategy.totalBytes())
                    .findAny()
                    .ifPresent(
                            offset -> {
                                throw new IllegalArgumentException(
                                        "%s: a tensor at %s of %s bytes"
                                                .formatted(
                                                        strategy.name(),
                                                        offset,
                                                        strategy.totalBytes()));
                            });
        }
        String name = best;
        checkArgument(strategies.stream().anyMatch(s -> s.name().equals(name)), "best: %s", name);
    }

    /** Returns the smallest valid plan. */
    public Strategy bestStrategy() {
        return strategies.stream().filter(s -> s.name().equals(best)).findFirst().orElseThrow();
    }

    /** Returns the number of planned tensors. */
    public long records() {
        return tensors.stream().filter(Tensor::planned).count();
    }
}
