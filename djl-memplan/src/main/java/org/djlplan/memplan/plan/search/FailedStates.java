package org.djlplan.memplan.plan.search;

/**
 * Remembers partial plans that cannot be completed, by what is left over and the floors it meets. A
 * newer one takes the place of an older one with the same index; of each, 128 bits are compared, so
 * that among 10^9 the chance of taking one for another is below 10^-20.
 */
final class FailedStates {

    private final long[] keys;
    private final int mask;
    private long high;
    private long low;

    /**
     * @param size how many are remembered, a power of two
     */
    FailedStates(int size) {
        keys = new long[2 * size];
        mask = size - 1;
    }

    /** Forgets everything: what failed at one capacity may not fail at a larger one. */
    void clear() {
        java.util.Arrays.fill(keys, 0);
    }

    /** Begins the key of a state. */
    void begin() {
        high = 1;
        low = 1;
    }

    /** Adds a fact to the key, in any order. */
    void add(long kind, long value) {
        long mixed = mix(kind * 0x9E3779B97F4A7C15L ^ mix(value + 0x632BE59BD9B4E019L));
        high += mixed;
        low += mix(mixed ^ 0xD1B54A32D192ED03L);
    }

    long high() {
        return high;
    }

    long low() {
        return low;
    }

    boolean contains(long high, long low) {
        int at = 2 * ((int) low & mask);
        return keys[at] == high && keys[at + 1] == low;
    }

    void remember(long high, long low) {
        int at = 2 * ((int) low & mask);
        keys[at] = high;
        keys[at + 1] = low;
    }

    /** The finalizer of SplitMix64 (Steele, Lea and Flood 2014). */
    private static long mix(long value) {
        long z = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }
}
