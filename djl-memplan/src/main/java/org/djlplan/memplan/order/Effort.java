package org.djlplan.memplan.order;

import java.util.Optional;

/**
 * How much a search may still do, counted and not timed, so that every run finds the same order.
 */
final class Effort {

    private final Optional<Effort> whole;
    private long left;

    /**
     * @param words how many words of sets of nodes may be looked at
     */
    Effort(long words) {
        this(words, Optional.empty());
    }

    private Effort(long words, Optional<Effort> whole) {
        left = words;
        this.whole = whole;
    }

    /** Returns a part of this effort. */
    Effort part(long words) {
        return new Effort(words, Optional.of(this));
    }

    void spend(long words) {
        left -= words;
        whole.ifPresent(of -> of.spend(words));
    }

    boolean exhausted() {
        return left < 0 || (whole.isPresent() && whole.get().exhausted());
    }
}
