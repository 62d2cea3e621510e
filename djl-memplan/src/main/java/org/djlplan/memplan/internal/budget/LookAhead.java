package org.djlplan.memplan.internal.budget;

import java.util.List;
import java.util.Optional;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A window of bytes that slides over the uses of weights in their order: each piece is loaded as
 * early as the window has room (Demand Layering, RTSS 2022, with a window of bytes instead of two
 * layers). Addresses are not considered, so no plan can load earlier.
 */
final class LookAhead {

    private final ImmutableList<WeightUse> uses;
    private final long[] otherBytes;
    private final int[] notBefore;

    /**
     * @param uses by their first step
     * @param otherBytes bytes in the window beside weights, by step
     * @param notBefore number of steps that must have finished before a use is loaded, by use
     */
    LookAhead(List<WeightUse> uses, long[] otherBytes, int[] notBefore) {
        this.uses = ImmutableList.copyOf(uses);
        this.otherBytes = otherBytes.clone();
        this.notBefore = notBefore.clone();
    }

    /**
     * Returns how many steps must have finished before each use is loaded; 0 for pinned uses. Empty
     * if the window has no room for what a step uses.
     *
     * @param pinned by use, whether it is always in memory
     * @param windowBytes size of the window, without pinned uses
     */
    Optional<int[]> after(boolean[] pinned, long windowBytes) {
        int steps = otherBytes.length;
        long[] freeBytes = new long[steps + 1];
        long[] usedBytes = new long[steps + 1];
        for (int i = 0; i < pinned.length; i++) {
            WeightUse use = uses.get(i);
            if (!pinned[i]) {
                usedBytes[use.first()] += use.bytes();
                freeBytes[use.last() + 1] += use.bytes();
            }
        }
        long used = 0;
        long dropped = 0;
        for (int step = 0; step < steps; step++) {
            used += usedBytes[step];
            dropped += freeBytes[step];
            freeBytes[step] = windowBytes - otherBytes[step] + dropped;
            if (used > freeBytes[step]) {
                return Optional.empty();
            }
        }
        long loaded = 0;
        int loader = 0;
        int[] after = new int[pinned.length];
        for (int i = 0; i < pinned.length; i++) {
            if (!pinned[i]) {
                loaded += uses.get(i).bytes();
                int from = Math.max(loader, uses.get(i).first());
                while (from > loader && loaded <= freeBytes[from - 1]) {
                    from--;
                }
                loader = Math.max(from, notBefore[i]);
                after[i] = loader;
            }
        }
        return Optional.of(after);
    }
}
