package org.djlplan.memplan.internal.budget;

import java.util.List;
import java.util.Map;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * A streaming plan in terms of the engine's tensors and of the file with the weights.
 *
 * @param arenaBytes size of the arena
 * @param places offset in the arena of every activation and temporary, by tensor
 * @param loads in the order to carry them out
 * @param needs for each step the number of loads that must be finished before it runs; never
 *     decreases
 * @param bindings the place of each streamed constant at each step that reads it, by step
 * @param elided for each step whether it need not run, because its output already lies where its
 *     input does
 */
public record Schedule(
        long arenaBytes,
        Map<Integer, Long> places,
        List<Load> loads,
        List<Integer> needs,
        List<Binding> bindings,
        List<Boolean> elided) {

    /**
     * Loads a range of bytes from the file into the arena.
     *
     * @param fileOffsetBytes offset in the file
     * @param bytes number of bytes; like both offsets, a multiple of {@link WeightUse#PAGE_BYTES}
     * @param offsetBytes offset in the arena
     * @param after number of steps that must have finished before it begins
     * @param pinned whether the range stays in the arena between inferences
     */
    public record Load(
            long fileOffsetBytes, long bytes, long offsetBytes, int after, boolean pinned) {}

    /**
     * A tensor's place at one step.
     *
     * @param step the step that reads it
     * @param tensor id of the tensor
     * @param offsetBytes offset in the arena
     */
    public record Binding(int step, int tensor, long offsetBytes) {}

    public Schedule {
        places = ImmutableMap.copyOf(places);
        loads = ImmutableList.copyOf(loads);
        needs = ImmutableList.copyOf(needs);
        bindings = ImmutableList.copyOf(bindings);
        elided = ImmutableList.copyOf(elided);
    }
}
