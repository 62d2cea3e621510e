package org.djlplan.memplan.order;

import java.util.Arrays;

/** A set of executed nodes as a key. */
final class DoneSet {

    private final long[] done;

    DoneSet(long[] done) {
        this.done = done;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof DoneSet that && Arrays.equals(done, that.done);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(done);
    }
}
