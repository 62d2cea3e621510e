package org.djlplan.memplan.internal.budget;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.djlplan.memplan.internal.plan.PlanValidator;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.collect.Lists;

/**
 * Places in one arena for all units of activations and all uses of pieces, and the time of each
 * load. It is not necessarily valid.
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
            checkArgument(use >= 0 && after >= 0, "load of use %s", use);
            checkArgument(
                    offsetBytes >= 0 && offsetBytes % WeightUse.PAGE_BYTES == 0,
                    "use %s at %s",
                    use,
                    offsetBytes);
            checkArgument(!pinned || after == 0, "a pinned use waits for nothing");
        }
    }

    public StreamingPlan {
        activationOffsets = ImmutableMap.copyOf(activationOffsets);
        loads = ImmutableList.copyOf(loads);
        int[] uses = loads.stream().mapToInt(Load::use).sorted().toArray();
        int[] all = IntStream.range(0, problem.weights().size()).toArray();
        checkArgument(Arrays.equals(uses, all), "%s loads", uses.length);
    }

    /** Returns the bytes that stay between inferences. */
    public long pinnedBytes() {
        return loads.stream()
                .filter(Load::pinned)
                .mapToLong(load -> problem.weights().get(load.use()).bytes())
                .sum();
    }

    /**
     * Returns whether everything has a place of its own in the arena while it is in use, and no
     * step and load wait for each other.
     */
    boolean isValid() {
        List<UsageRecord> records = new ArrayList<>();
        Map<Integer, Long> offsets = new HashMap<>();
        for (UsageRecord unit : problem.activations().units()) {
            int number = records.size();
            records.add(new UsageRecord(number, unit.first(), unit.last(), unit.bytes()));
            offsets.put(number, activationOffsets.getOrDefault(unit.tensor(), -1L));
        }
        int needed = Integer.MAX_VALUE;
        for (Load load : Lists.reverse(loads)) {
            WeightUse use = problem.weights().get(load.use());
            needed = Math.min(needed, use.first());
            if (load.after() > needed) {
                return false;
            }
            int last = load.pinned() ? problem.steps() - 1 : use.last();
            offsets.put(records.size(), load.offsetBytes());
            records.add(new UsageRecord(records.size(), load.after(), last, use.bytes()));
        }
        return PlanValidator.violations(
                        new PlanningProblem(records),
                        offsets,
                        arenaBytes,
                        UsageRecords.ALIGNMENT_BYTES)
                .isEmpty();
    }
}
