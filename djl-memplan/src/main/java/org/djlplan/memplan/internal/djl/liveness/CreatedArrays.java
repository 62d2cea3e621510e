package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.djlplan.memplan.internal.source.block.BlockRecording;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * The arrays that a recorded pass created, in order of creation. An array is closed when the block
 * no longer needs it. If much memory is in use, arrays that the block can no longer reach are also
 * closed. Used by one thread.
 */
final class CreatedArrays {

    private final NDManager root;
    private final List<CreatedArray> all = new ArrayList<>();
    private final IdentityHashMap<NDArray, CreatedArray> byArray = new IdentityHashMap<>();
    private final Reclaimer reclaimer = new Reclaimer();
    private int closed;

    /**
     * @param root the call's manager
     */
    CreatedArrays(NDManager root) {
        this.root = root;
    }

    /** Adds an array, as {@link CreatedArray} describes. */
    void add(NDArray array, boolean sharing, boolean unseen) {
        CreatedArray created = new CreatedArray(all.size(), array, sharing, unseen);
        all.add(created);
        byArray.put(array, created);
        reclaimer.created(created.ownBytes());
    }

    /** Returns the data about an array; empty if the pass did not create it. */
    Optional<CreatedArray> find(NDArray array) {
        return Optional.ofNullable(byArray.get(array));
    }

    /** Returns how many arrays were created so far. */
    int count() {
        return all.size();
    }

    /** Returns the arrays from a number on, in a list that later arrays do not change. */
    List<CreatedArray> since(int first) {
        return ImmutableList.copyOf(all.subList(first, all.size()));
    }

    /** Excludes arrays from a number on from closing. */
    void keepSince(int first) {
        since(first).forEach(CreatedArray::keep);
    }

    /**
     * Excludes arrays from a number on from closing if their owner is not one of the call's
     * managers.
     */
    void keepElsewhereSince(int first) {
        since(first).forEach(created -> created.keepUnlessWithin(root));
    }

    /** Closes an array if it exists for this pass only. */
    void close(CreatedArray created) {
        if (created.close(root)) {
            closed++;
            reclaimer.closed(created.ownBytes());
        }
    }

    /** Returns the number of closed arrays. */
    int closed() {
        return closed;
    }

    /** Returns whether enough memory is in use to look for arrays that are not needed. */
    boolean isReclaimDue() {
        return reclaimer.due();
    }

    /**
     * Closes the arrays that are not needed; if that frees too little, again after a garbage
     * collection.
     *
     * @param needed tells whether the block may use an array
     */
    void reclaim(Predicate<NDArray> needed) {
        if (closeUnless(needed) == 0 || reclaimer.due()) {
            reclaimer.collect(() -> closeUnless(needed));
        }
    }

    private int closeUnless(Predicate<NDArray> needed) {
        int before = closed;
        long aliveBytes = 0;
        for (CreatedArray created : since(0)) {
            if (!created.isClosed() && !needed.test(created.array())) {
                close(created);
            }
            aliveBytes += created.isAlive() ? created.ownBytes() : 0;
        }
        reclaimer.left(aliveBytes);
        return closed - before;
    }

    /** Returns the arrays for the recording of a pass that has ended. */
    List<BlockRecording.Array> recorded() {
        List<BlockRecording.Array> recorded = new ArrayList<>();
        for (CreatedArray created : all) {
            recorded.add(created.recorded(root));
        }
        return recorded;
    }
}
