package org.djlplan.memplan.store;

import static com.google.common.base.Preconditions.checkArgument;

/**
 * What is known of a large file that was made from a model.
 *
 * @param bytes its size
 * @param modifiedNanos when it was written, in nanoseconds since 1970
 * @param sample {@link ModelFiles#sampledContent}
 * @param whole the CRC-32C of all of it
 * @param derivedBeginBytes where in it begins what kernels derive from weights; 0 for nothing
 */
public record KeptCopy(
        long bytes, long modifiedNanos, String sample, long whole, long derivedBeginBytes) {

    public KeptCopy {
        checkArgument(bytes > 0, "a file of %s bytes", bytes);
        checkArgument(
                derivedBeginBytes >= 0 && derivedBeginBytes < bytes,
                "a part at %s of %s",
                derivedBeginBytes,
                bytes);
    }
}
