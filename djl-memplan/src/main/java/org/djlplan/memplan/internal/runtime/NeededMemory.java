package org.djlplan.memplan.internal.runtime;

/**
 * The memory that a model's recent predictions needed, by the size of their inputs: sizes between
 * two powers of two count as one. Thread-safe.
 */
public final class NeededMemory {

    /** A peak covers at least so many predictions, and less than twice as many. */
    static final int PREDICTIONS = 32;

    /** The index is the length of the number of input elements in bits. */
    private final Peak[] peaks = new Peak[Long.SIZE + 1];

    /** The most memory that recent predictions of a size needed. */
    private static final class Peak {
        private long before;
        private long now;
        private int count;

        private void note(long bytes) {
            now = Math.max(now, bytes);
            count++;
            if (count == PREDICTIONS) {
                before = now;
                now = 0;
                count = 0;
            }
        }

        private long bytes() {
            return Math.max(before, now);
        }
    }

    /**
     * Notes how much memory a prediction needed.
     *
     * @param elements number of elements of its inputs
     */
    public synchronized void note(long elements, long bytes) {
        int size = size(elements);
        if (peaks[size] == null) {
            peaks[size] = new Peak();
        }
        peaks[size].note(bytes);
    }

    /**
     * Returns the most bytes that recent predictions of this size needed. If there were none, the
     * next larger size counts; {@link Long#MAX_VALUE} if no such size occurred.
     *
     * @param elements number of elements of its inputs
     */
    public synchronized long expectedBytes(long elements) {
        for (int size = size(elements); size < peaks.length; size++) {
            if (peaks[size] != null) {
                return peaks[size].bytes();
            }
        }
        return Long.MAX_VALUE;
    }

    private static int size(long elements) {
        return Long.SIZE - Long.numberOfLeadingZeros(elements);
    }
}
