package org.djlplan.memplan.internal.serving;

import java.util.concurrent.CancellationException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.djlplan.memplan.internal.thread.Later;

/**
 * Serializes the work on a model: predictions, in order of arrival; changes; and background work.
 * Background work takes a turn for each of its steps, so that a prediction waits for one step at
 * most. A change first cancels the background work.
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

    /** Takes a turn if nothing else has one; returns whether it did. */
    boolean tryLock() {
        return lock.tryLock();
    }

    /** Ends a turn. */
    void unlock() {
        lock.unlock();
    }

    /**
     * Waits for a turn for a step of the background work.
     *
     * @throws CancellationException if the work was cancelled; then there is no turn
     */
    void lockForWork() {
        lock.lock();
        if (cancelled) {
            lock.unlock();
            throw new CancellationException("something else is wanted of the model");
        }
    }

    /**
     * Starts background work. The caller must have a turn. Does nothing while other work runs, or
     * if no thread can be started.
     */
    void begin(Runnable work) {
        working = working || Later.start(() -> run(work));
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
     * Cancels the background work and waits for its end. The caller must have a turn, which is
     * suspended meanwhile, so that others may take theirs.
     */
    void endWork() {
        while (working) {
            cancelled = true;
            ended.awaitUninterruptibly();
        }
    }
}
