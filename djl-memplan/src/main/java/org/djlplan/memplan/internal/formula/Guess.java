package org.djlplan.memplan.internal.formula;

import org.djlplan.memplan.internal.source.trace.AllocationTrace;
import org.djlplan.memplan.internal.usage.UsageRecords;

/** The predicted allocations of a prediction with a given shape. Immutable. */
public final class Guess {

    static final long ALIGNMENT_BYTES = UsageRecords.ALIGNMENT_BYTES;

    private final LearntStructure learnt;
    private final long[] sizeOfRow;
    private final long sumBytes;

    /**
     * @param sizeOfRow bytes of each row
     * @param sumBytes total size of all allocations
     */
    Guess(LearntStructure learnt, long[] sizeOfRow, long sumBytes) {
        this.learnt = learnt;
        this.sizeOfRow = sizeOfRow;
        this.sumBytes = sumBytes;
    }

    /** Returns the number of allocations. */
    public int size() {
        return learnt.structure().size();
    }

    /** Returns the requested size of an allocation. */
    public long bytes(int number) {
        return sizeOfRow[learnt.rowOf().get(number)];
    }

    long alignedBytes(int number) {
        return UsageRecords.alignedBytes(bytes(number));
    }

    /** Returns the number of the first allocation that is made after this one was freed. */
    int end(int number) {
        return learnt.structure().ends().get(number);
    }

    /**
     * Returns whether a plan places an allocation: it is not empty and does not outlive the
     * prediction.
     */
    boolean isPlaced(int number) {
        return bytes(number) > 0 && !learnt.isLeft(number);
    }

    /** Returns all allocations, largest first. */
    int[] bySize() {
        return learnt.bySize(sizeOfRow);
    }

    /** Returns the total size of all allocations. */
    public long sumBytes() {
        return sumBytes;
    }

    /**
     * Returns the total size of the allocations that outlive the prediction, such as its outputs.
     */
    public long leftBytes() {
        return learnt.left().stream().mapToLong(this::bytes).sum();
    }

    /** Returns the allocations. */
    public AllocationTrace trace() {
        long[] bytes = new long[size()];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = bytes(i);
        }
        return learnt.structure().trace(bytes, learnt.left());
    }
}
