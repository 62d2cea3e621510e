package org.djlplan.memplan.internal.gate;

import java.lang.ref.WeakReference;

/**
 * The threads that run their forward passes themselves, instead of handing them to a worker. Each
 * of the first threads that request a pass gets a seat. A seat becomes free when its thread ends,
 * or has requested no pass for long (for example, a thread that only loaded the model). Not
 * thread-safe: the lock of {@link Gate} guards it.
 */
final class Seats {

    /** The initial value of {@link #absence}. */
    private static final long FIRST_ABSENCE = 64;

    private final Seat[] all;
    private long calls;

    /**
     * A thread loses its seat after this many calls of other threads. The number doubles with each
     * lost seat, so that few of many threads ever run a pass.
     */
    private long absence = FIRST_ABSENCE;

    /** A thread that runs its passes itself, and the number of its last call. */
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

    /** Counts a call, and returns whether its thread has a seat, or gets one now. */
    boolean take(Thread thread) {
        if (all.length == 0) {
            return false;
        }
        calls++;
        int free = -1;
        int oldest = 0;
        for (int i = 0; i < all.length; i++) {
            if (all[i] == null || all[i].isFree()) {
                free = i;
            } else if (all[i].thread.refersTo(thread)) {
                all[i].call = calls;
                return true;
            } else if (free < 0 && all[i].call < all[oldest].call) {
                oldest = i;
            }
        }
        if (free < 0) {
            if (calls - all[oldest].call <= absence) {
                return false;
            }
            free = oldest;
            absence *= 2;
        }
        Seat seat = new Seat(thread);
        seat.call = calls;
        all[free] = seat;
        return true;
    }
}
