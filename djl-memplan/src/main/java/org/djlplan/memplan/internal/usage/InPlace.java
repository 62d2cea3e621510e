package org.djlplan.memplan.internal.usage;

import java.util.Optional;

/** The conditions under which an operator may overwrite its input. */
public enum InPlace {
    /** Never. */
    FALSE,
    /**
     * If the arena becomes smaller by at least {@link #WORTHWHILE_BYTES}. Several of the engine's
     * element-wise kernels are slower on their own input, because compilers vectorize loops for
     * operands that do not overlap; a small saving does not justify that.
     */
    AUTO,
    /** If the arena becomes smaller by any amount. */
    TRUE;

    /** The minimum saving for {@link #AUTO}. */
    public static final long WORTHWHILE_BYTES = 512 << 10;

    /** Returns the minimum saving in bytes; empty for never. */
    public Optional<Long> leastSavingBytes() {
        return switch (this) {
            case FALSE -> Optional.empty();
            case AUTO -> Optional.of(WORTHWHILE_BYTES);
            case TRUE -> Optional.of(1L);
        };
    }
}
