package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.ndarray.NDArray;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/** Arrays that an enclosing block, or a parallel branch, still needs. Immutable. */
final class Needed {

    private final Optional<Needed> outer;
    private final List<NDArray> arrays;

    private Needed(Optional<Needed> outer, Collection<NDArray> arrays) {
        this.outer = outer;
        this.arrays = ImmutableList.copyOf(arrays);
    }

    static Needed nothing() {
        return new Needed(Optional.empty(), ImmutableList.of());
    }

    /** Returns these arrays and additional ones. */
    Needed and(Collection<NDArray> more) {
        return new Needed(Optional.of(this), more);
    }

    /** Returns whether this very array is in the list; equals would compare the content. */
    static boolean containsSame(Collection<NDArray> arrays, NDArray array) {
        for (NDArray other : arrays) {
            if (other == array) {
                return true;
            }
        }
        return false;
    }

    boolean contains(NDArray array) {
        return containsSame(arrays, array)
                || outer.filter(others -> others.contains(array)).isPresent();
    }
}
