package org.djlplan.memplan.internal.budget;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

/**
 * A tensor that lies inside another one.
 *
 * @param tensor id of the tensor
 * @param of id of the tensor that owns the memory; this tensor is not a view
 * @param offsetBytes offset in that tensor
 */
public record View(int tensor, int of, long offsetBytes) {

    public View {
        checkArgument(tensor != of && offsetBytes >= 0, "a view of %s at %s", of, offsetBytes);
    }
}
