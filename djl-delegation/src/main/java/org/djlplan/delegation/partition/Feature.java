package org.djlplan.delegation.partition;

/**
 * What is known of a unit before anything is run; each may predict how much time it saves to
 * delegate the unit. TensorFlow Lite itself goes by {@link #OPERATORS}: of many partitions it
 * delegates those with most nodes.
 */
public enum Feature {
    /** The number of its operators. */
    OPERATORS,
    /** FLOPs of one inference. */
    FLOPS,
    /** Bytes of the constants it reads. */
    WEIGHT_BYTES,
    /** Bytes of the tensors that enter and leave it. */
    CROSSING_BYTES;

    /** Returns a unit's value. */
    public long of(Unit unit) {
        return switch (this) {
            case OPERATORS -> unit.operators().size();
            case FLOPS -> unit.flops();
            case WEIGHT_BYTES -> unit.weightBytes();
            case CROSSING_BYTES -> unit.crossingBytes();
        };
    }
}
