package org.djlplan.memplan.order;

/** Sets of small numbers as bits, all of one length. */
final class Masks {

    private Masks() {}

    static int words(int size) {
        return (size + Long.SIZE - 1) / Long.SIZE;
    }

    static void set(long[] mask, int number) {
        mask[number / Long.SIZE] |= 1L << number;
    }

    static boolean has(long[] mask, int number) {
        return (mask[number / Long.SIZE] >>> number & 1) != 0;
    }

    static void addAll(long[] mask, long[] others) {
        for (int i = 0; i < mask.length; i++) {
            mask[i] |= others[i];
        }
    }

    static boolean disjoint(long[] one, long[] other) {
        for (int i = 0; i < one.length; i++) {
            if ((one[i] & other[i]) != 0) {
                return false;
            }
        }
        return true;
    }

    /** Returns whether {@code outer} has all of {@code inner}. */
    static boolean contains(long[] outer, long[] inner) {
        for (int i = 0; i < outer.length; i++) {
            if ((inner[i] & ~outer[i]) != 0) {
                return false;
            }
        }
        return true;
    }
}
