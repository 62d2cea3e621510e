package org.djlplan.memplan.internal.serving;

import java.util.concurrent.CancellationException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.djlplan.memplan.internal.thread.DaemonThreads;

/**
 * Serializes the work on a model: predictions, in order of arrival; changes; and background work,
 * which takes a turn for each of its steps, so that no prediction waits for more than one of them.
 * A change cancels the background work before it begins.
 */
final class Turns {

    private final ReentrantLock lock = new ReentrantLock(true);
    private final Condition ended = lock.newCondition();

    // Guarded by the lock.
    private boolean working;
    private boolean cancelled;

    /** Waits for a turn; {@link #unlock} ends it. */
    void lock() {
        lock.lock();
    }

    /** Ends a turn. */
    void unlock() {
        lock.unlock();
    }

    /**
     * Waits for a turn for a step of the work.
     *
     * @throws CancellationException if the work is to end; then there is no turn
     */
    void lockForWork() {
        lock.lock();
        if (cancelled) {
            lock.unlock();
            throw new CancellationException("something else is wanted of the model");
        }
    }

    /**
     * Has work done by a daemon thread, in a turn of the caller's. Does nothing while other work
     * goes on, or when no thread is to be had.
     */
    void begin(String threadName, Runnable work) {
        if (working) {
            return;
        }
        Thread thread = DaemonThreads.make(() -> run(work), threadName);
        working = true;
        try {
            thread.start();
        } catch (OutOfMemoryError e) {
            working = false;
        }
    }

    private void run(Runnable work) {
        try {
            work.run();
        } finally {
            end();
        }
    }

    private void end() {
        lock.lock();
        try {
            working = false;
            cancelled = false;
            ended.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Ends the work, in a turn of the caller's, which is interrupted until then: others may have
     * theirs meanwhile.
     */
    void endWork() {
        while (working) {
            cancelled = true;
            ended.awaitUninterruptibly();
        }
    }
}
