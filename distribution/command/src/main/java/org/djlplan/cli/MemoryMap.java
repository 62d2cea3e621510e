package org.djlplan.cli;

import java.util.List;
import java.util.Optional;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A model's memory over time: the tensors that are alive at each step, and their place in each
 * strategy's plan. It is the part {@code plan} of a report.
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
record MemoryMap(
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

    /** Name of the plan that is the engine's own arena. */
    static final String ENGINE = "engine";

    /** Owner of tensors that are passed from one operator to others. */
    static final String ARENA = "arena";

    /** Owner of scratch memory of one operator, which is in the arena, too. */
    static final String TEMPORARY = "temporary";

    /** Owner of the model's inputs and outputs, which belong to the caller. */
    static final String IO = "io";

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
    record Tensor(
            String name,
            Optional<List<Integer>> shape,
            Optional<String> type,
            long bytes,
            int first,
            int last,
            Optional<Integer> producer,
            List<Integer> consumers,
            String owner,
            Optional<Integer> alias) {}

    /**
     * One plan.
     *
     * @param name of the strategy, with {@code "+in-place"} if tensors share places
     * @param layout {@code naive}, {@link PlanRun#OFFSETS} or {@link PlanRun#SHARED_OBJECTS}
     * @param totalBytes size of the arena, or of all shared objects together
     * @param millis how long planning took
     * @param valid whether the independent validator found no error
     * @param provedMinimal whether it is proved that no plan with this layout, in which the same
     *     tensors share places, is smaller
     * @param offsets offset in bytes of each tensor, null or absent at the end if it has no place,
     *     with shared objects laid end to end; empty if not included
     * @param objects the shared objects; empty for one arena
     */
    record Strategy(
            String name,
            String layout,
            long totalBytes,
            double millis,
            boolean valid,
            boolean provedMinimal,
            Optional<List<Long>> offsets,
            Optional<List<Span>> objects) {

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

    /** A shared object's place, in bytes, if all objects lie end to end. */
    record Span(long offset, long bytes) {}

    MemoryMap {
        strategies = ImmutableList.copyOf(strategies);
    }

    /** Returns the smallest valid plan. */
    Strategy bestStrategy() {
        return strategies.stream().filter(s -> s.name().equals(best)).findFirst().orElseThrow();
    }
}
