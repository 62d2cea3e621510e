package org.djlplan.memplan.machine;

import static com.google.common.base.Preconditions.checkArgument;

/**
 * What a container – or a machine without any – has room for.
 *
 * @param limitBytes its limit
 * @param usedBytes what is used and cannot be taken back without harm: all but file pages that no
 *     process has mapped
 * @param heapGrowthBytes what the heap of this JVM may still grow by
 */
public record MemoryRoom(long limitBytes, long usedBytes, long heapGrowthBytes) {

    public MemoryRoom {
        checkArgument(
                limitBytes > 0 && usedBytes >= 0 && heapGrowthBytes >= 0,
                "%s of %s bytes in use, %s of heap to come",
                usedBytes,
                limitBytes,
                heapGrowthBytes);
    }

    /** Returns what is free; negative where more is in use than the limit has room for. */
    public long freeBytes() {
        return limitBytes - usedBytes;
    }
}
