package org.djlplan.memplan.internal.budget;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.List;
import java.util.Map;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * Places in one arena for all units of activations and all uses of pieces, and the time of each
 * load. It is not necessarily valid: see {@code StreamingValidator}.
 *
 * @param strategy name of the strategy
 * @param problem that was planned
 * @param activationOffsets offset in bytes of every unit, by the unit's tensor id
 * @param loads in the order in which one thread carries them out, one for each use
 * @param arenaBytes size of the arena
 */
public record StreamingPlan(
        String strategy,
        StreamingProblem problem,
        Map<Integer, Long> activationOffsets,
        List<Load> loads,
        long arenaBytes) {

    /**
     * Loads a piece to its place.
     *
     * @param use index into {@link StreamingProblem#weights()}
     * @param offsetBytes in the arena, a multiple of {@link WeightUse#PAGE_BYTES}
     * @param after number of steps that must have finished before it begins; 0 for the beginning of
     *     an inference
     * @param pinned whether it is loaded once and stays between inferences: then nothing else uses
     *     its place, and {@code after} is 0
     */
    public record Load(int use, long offsetBytes, int after, boolean pinned) {

        public Load {
            checkArgument(use >= 0 && offsetBytes >= 0 && after >= 0, "load of use %s", use);
            checkArgument(!pinned || after == 0, "a pinned use waits for nothing");
        }
    }

    public StreamingPlan {
        activationOffsets = ImmutableMap.copyOf(activationOffsets);
        loads = ImmutableList.copyOf(loads);
    }
}
