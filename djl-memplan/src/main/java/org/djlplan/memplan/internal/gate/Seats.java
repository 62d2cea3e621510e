package org.djlplan.memplan.internal.gate;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

/**
 * The threads that run their forward passes themselves, instead of handing them to a worker. Each
 * of the first threads that request a pass gets a seat. A seat becomes free when its thread ends,
 * or has requested no pass for long (for example, a thread that only loaded the model). Not
 * thread-safe: the lock of {@link Gate} guards it.
 */
final class Seats {

    /** The initial value of {@link #absence}. */
    private static final long FIRST_ABSENCE = 64;

    private final int count;

    /** The thread that called last is the last one. */
    private final List<Seat> taken = new ArrayList<>();

    private long calls;

    /**
     * A thread loses its seat after this many calls of other threads. The number doubles with each
     * lost seat, so that few of many threads ever run a pass.
     */
    private long absence = FIRST_ABSENCE;

    /**
     * A seat that is taken.
     *
     * @param call the number of its thread's last call
     */
    private record Seat(WeakReference<Thread> thread, long call) {

        private boolean isFree() {
            Thread holder = thread.get();
            return holder == null || !holder.isAlive();
        }
    }

    /**
     * @param count the number of seats; 0 if all passes are handed to workers
     */
    Seats(int count) {
        this.count = count;
    }

    /** Counts a call, and returns whether its thread has a seat, or gets one now. */
    boolean take(Thread thread) {
        calls++;
        for (int i = 0; i < taken.size(); i++) {
            if (taken.get(i).thread().refersTo(thread)) {
                taken.add(new Seat(taken.remove(i).thread(), calls));
                return true;
            }
        }
        taken.removeIf(Seat::isFree);
        if (taken.size() == count) {
            if (count == 0 || calls - taken.get(0).call() <= absence) {
                return false;
            }
            taken.remove(0);
            absence *= 2;
        }
        taken.add(new Seat(new WeakReference<>(thread), calls));
        return true;
    }
}
