package org.djlplan.memplan.usage;

import java.util.Optional;

/** The conditions under which an operator may write over its input. */
public enum InPlace {
    /** Never. */
    FALSE,
    /**
     * When the arena gets smaller by {@link #WORTHWHILE_BYTES} at least. Several of the engine's
     * element-wise kernels run slower over their own input, because compilers vectorise loops for
     * operands that do not overlap; a smaller saving does not pay for that.
     */
    AUTO,
    /** When the arena gets smaller, by however little. */
    TRUE;

    /** The saving from which on {@link #AUTO} is worth its while. */
    public static final long WORTHWHILE_BYTES = 512 << 10;

    /** Returns the saving in bytes that it takes; empty for never. */
    public Optional<Long> leastSavingBytes() {
        return switch (this) {
            case FALSE -> Optional.empty();
            case AUTO -> Optional.of(WORTHWHILE_BYTES);
            case TRUE -> Optional.of(1L);
        };
    }
}
