package org.djlplan.memplan.internal.runtime;

import java.lang.ref.WeakReference;

/**
 * The threads that run their passes themselves, instead of handing them to a worker: the first ones
 * that called, each in a seat. A seat becomes free when its thread has ended, or when a thread
 * without a seat is the only caller. Not thread-safe: the lock of {@link Workers} guards it.
 */
final class Seats {

    /** After this many calls in a row, a thread without a seat gets one. */
    private static final int ALONE = 64;

    private final Seat[] all;
    private long calls;

    /** The last caller without a seat. */
    private WeakReference<Thread> standing = new WeakReference<>(null);

    /** How often it called since another thread did. */
    private int inARow;

    /** A thread that runs its passes, and the number of its last call. */
    private static final class Seat {
        private final WeakReference<Thread> thread;
        private long call;

        private Seat(Thread thread) {
            this.thread = new WeakReference<>(thread);
        }

        private boolean isFree() {
            Thread holder = thread.get();
            return holder == null || !holder.isAlive();
        }
    }

    /**
     * @param count the number of seats; 0 if all passes are handed to workers
     */
    Seats(int count) {
        all = new Seat[count];
    }

    /** Returns whether there are seats, free or taken. Needs no lock. */
    boolean exist() {
        return all.length > 0;
    }

    /** Counts a call, and returns whether its thread has a seat, or gets one now. */
    boolean take(Thread thread) {
        calls++;
        int free = -1;
        int oldest = 0;
        for (int i = 0; i < all.length; i++) {
            if (all[i] == null || all[i].isFree()) {
                free = i;
            } else if (all[i].thread.refersTo(thread)) {
                all[i].call = calls;
                inARow = 0;
                return true;
            } else if (free < 0 && all[i].call < all[oldest].call) {
                oldest = i;
            }
        }
        inARow = standing.refersTo(thread) ? inARow + 1 : 0;
        if (inARow == 0) {
            standing = new WeakReference<>(thread);
        }
        if (free < 0 && inARow < ALONE) {
            return false;
        }
        Seat seat = new Seat(thread);
        seat.call = calls;
        all[free < 0 ? oldest : free] = seat;
        return true;
    }
}
