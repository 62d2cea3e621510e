package org.djlplan.memplan.internal.store;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

/**
 * The description of a large file that was made from a model.
 *
 * @param bytes its size
 * @param content of its {@link Fingerprint}
 * @param derivedBeginBytes offset of the data that kernels derive from weights; 0 if there is none
 */
public record KeptCopy(long bytes, String content, long derivedBeginBytes) {

    public KeptCopy {
        checkArgument(bytes > 0, "a file of %s bytes", bytes);
        checkArgument(
                derivedBeginBytes >= 0 && derivedBeginBytes < bytes,
                "a part at %s of %s",
                derivedBeginBytes,
                bytes);
    }
}
