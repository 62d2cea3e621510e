package org.djlplan.memplan.internal.budget;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

/**
 * A piece of the weights that lies in the arena while some steps run. A piece that is used again
 * after a gap may have several uses, one for each load.
 *
 * @param piece number of the piece
 * @param first first step that reads it
 * @param last last step that reads it, inclusive
 * @param bytes its size, a multiple of {@link #PAGE_BYTES}
 */
public record WeightUse(int piece, int first, int last, long bytes) {

    /** Pieces begin and end at multiples of this, in the file and in the arena. */
    public static final long PAGE_BYTES = 4096;

    public WeightUse {
        checkArgument(piece >= 0, "negative piece: %s", piece);
        checkArgument(first >= 0 && last >= first, "piece %s from %s to %s", piece, first, last);
        checkArgument(bytes > 0 && bytes % PAGE_BYTES == 0, "piece %s of %s bytes", piece, bytes);
    }

    /** Returns a size rounded up to whole pages. */
    public static long roundUp(long bytes) {
        return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    }
}
