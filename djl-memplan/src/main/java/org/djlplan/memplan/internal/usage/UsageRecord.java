package org.djlplan.memplan.internal.usage;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

/**
 * A tensor usage record: a tensor's usage interval and aligned size.
 *
 * @param tensor id of the tensor
 * @param first first operator, in execution order, that uses the tensor
 * @param last last operator that uses it, inclusive
 * @param bytes aligned size
 */
public record UsageRecord(int tensor, int first, int last, long bytes) {

    public UsageRecord {
        checkArgument(tensor >= 0, "negative tensor id: %s", tensor);
        checkArgument(first >= 0, "tensor %s is used before the first operator", tensor);
        checkArgument(last >= first, "tensor %s is used from %s to %s", tensor, first, last);
        checkArgument(bytes > 0, "tensor %s has %s bytes", tensor, bytes);
    }

    /** Returns whether both tensors are alive at one operator or more. */
    public boolean overlaps(UsageRecord other) {
        return first <= other.last && other.first <= last;
    }
}
