package org.djlplan.memplan.internal.usage;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.OptionalInt;

/**
 * A block of memory that an engine took from its allocator. Time ticks at every allocation and at
 * every free, so that no two events are simultaneous.
 *
 * @param bytes requested size, not aligned; may be 0
 * @param allocatedAt time of the allocation
 * @param freedAt time of the free; empty for a block that outlives the prediction, which must never
 *     lie in memory that the next prediction uses
 */
public record Allocation(long bytes, int allocatedAt, OptionalInt freedAt) {

    public Allocation {
        checkArgument(bytes >= 0, "an allocation of %s bytes", bytes);
        checkArgument(allocatedAt >= 0, "an allocation at %s", allocatedAt);
        checkArgument(
                freedAt.isEmpty() || freedAt.getAsInt() > allocatedAt,
                "an allocation at %s freed at %s",
                allocatedAt,
                freedAt);
    }

    /** Returns whether a plan may place the allocation. */
    public boolean plannable() {
        return bytes > 0 && freedAt.isPresent();
    }
}
