package org.djlplan.memplan.internal.machine;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

/**
 * The memory of a container, or of a machine without a container.
 *
 * @param limitBytes the most memory that the process can ever use; very large if unknown
 * @param usedBytes used memory that cannot be reclaimed without harm: everything except file pages
 *     that no process has mapped
 * @param heapGrowthBytes possible growth of this JVM's heap
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

    /** Returns the free bytes; negative if the usage exceeds the limit. */
    public long freeBytes() {
        return limitBytes - usedBytes;
    }
}
