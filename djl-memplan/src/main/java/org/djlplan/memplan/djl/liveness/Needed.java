package org.djlplan.memplan.djl.liveness;

import ai.djl.ndarray.NDArray;
import com.google.common.collect.ImmutableList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/** Arrays that a block further out, or a parallel branch, still needs. Immutable. */
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

    /** Returns these and more. */
    Needed and(Collection<NDArray> more) {
        return new Needed(Optional.of(this), more);
    }

    boolean contains(NDArray array) {
        return TreeCall.containsSame(arrays, array)
                || outer.filter(others -> others.contains(array)).isPresent();
    }
}
