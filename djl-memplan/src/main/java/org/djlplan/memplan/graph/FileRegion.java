package org.djlplan.memplan.graph;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

/**
 * The position of a constant in the model file.
 *
 * @param offsetBytes distance from the start of the file
 * @param lengthBytes length of the constant
 */
public record FileRegion(long offsetBytes, long lengthBytes) {

    public FileRegion {
        checkArgument(offsetBytes >= 0, "negative offset: %s", offsetBytes);
        checkArgument(lengthBytes >= 0, "negative length: %s", lengthBytes);
    }
}
