package org.djlplan.memplan.runtime.tflite;

import static com.google.common.base.Preconditions.checkState;

import com.google.common.collect.ImmutableList;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.djlplan.memplan.runtime.Later;
import org.djlplan.memplan.spi.DelegationChoice;

/**
 * The interpreters of one model. Each is used by one thread at a time; there are never more than
 * the limit; those that nobody used for a while are closed, except the one used last.
 */
final class InterpreterPool implements AutoCloseable {

    private final int limit;
    private final long idleNanos;
    private final InterpreterFactory factory;
    private final Runnable whenEmpty;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Deque<Idle> idle = new ArrayDeque<>();
    private final Set<PlannedInterpreter> busy = new HashSet<>();
    private int building;
    private boolean closed;
    private boolean emptied;
    private boolean sweepPending;

    private record Idle(PlannedInterpreter interpreter, long sinceNanos) {}

    /**
     * @param limit how many interpreters there may be
     * @param idleAfter how long an unused one is kept
     * @param factory makes an interpreter for input shapes
     * @param whenEmpty called once, when the pool is closed and the last interpreter is gone
     */
    InterpreterPool(int limit, Duration idleAfter, InterpreterFactory factory, Runnable whenEmpty) {
        this.limit = limit;
        this.idleNanos = idleAfter.toNanos();
        this.factory = factory;
        this.whenEmpty = whenEmpty;
    }

    /** Returns an interpreter for these shapes that is the caller's until {@link #giveBack}. */
    PlannedInterpreter borrow(List<List<Integer>> shapes)
            throws InterruptedException, UnplannableException {
        Optional<PlannedInterpreter> evicted = Optional.empty();
        lock.lockInterruptibly();
        try {
            while (true) {
                checkState(!closed, "the model is closed");
                PlannedInterpreter found = takeIdle(shapes);
                if (found != null) {
                    busy.add(found);
                    return found;
                }
                if (idle.size() + busy.size() + building < limit) {
                    break;
                }
                if (!idle.isEmpty()) {
                    evicted = Optional.of(idle.removeLast().interpreter());
                    break;
                }
                changed.await();
            }
            building++;
        } finally {
            lock.unlock();
        }
        evicted.ifPresent(PlannedInterpreter::close);
        return build(shapes);
    }

    /**
     * Does nothing while the pool is open.
     *
     * @throws IllegalStateException if it is closed
     */
    void requireOpen() {
        lock.lock();
        try {
            checkState(!closed, "the model is closed");
        } finally {
            lock.unlock();
        }
    }

    private PlannedInterpreter takeIdle(List<List<Integer>> shapes) {
        for (Iterator<Idle> i = idle.iterator(); i.hasNext(); ) {
            PlannedInterpreter interpreter = i.next().interpreter();
            if (interpreter.hasShapes(shapes) && isCurrent(interpreter)) {
                i.remove();
                return interpreter;
            }
        }
        return null;
    }

    /**
     * Keeps the pool from ending, and with it the model, until {@link #leave}: an interpreter is
     * built outside.
     *
     * @throws IllegalStateException if it is closed
     */
    void enter() {
        lock.lock();
        try {
            checkState(!closed, "the model is closed");
            building++;
        } finally {
            lock.unlock();
        }
    }

    /** Ends what {@link #enter} began. */
    void leave() {
        lock.lock();
        try {
            building--;
            changed.signal();
            announceEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** Returns whether an interpreter delegates what is chosen now. */
    private boolean isCurrent(PlannedInterpreter interpreter) {
        return interpreter.delegates(factory.choice().candidate());
    }

    /**
     * Goes over to another choice between two predictions: idle interpreters are closed, busy ones
     * when they come back.
     *
     * @param first the first interpreter of the new choice
     */
    void switchTo(DelegationChoice choice, PlannedInterpreter first) {
        lock.lock();
        try {
            if (closed) {
                first.close();
                return;
            }
            factory.choose(choice);
            idle.forEach(i -> i.interpreter().close());
            idle.clear();
            idle.add(new Idle(first, System.nanoTime()));
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private PlannedInterpreter build(List<List<Integer>> shapes) throws UnplannableException {
        PlannedInterpreter built = null;
        try {
            built = factory.build(shapes);
            return built;
        } finally {
            lock.lock();
            try {
                building--;
                if (built != null) {
                    busy.add(built);
                }
                changed.signal();
                announceEmpty();
            } finally {
                lock.unlock();
            }
        }
    }

    /** Takes back what {@link #borrow} gave. */
    void giveBack(PlannedInterpreter interpreter) {
        release(interpreter, true);
    }

    /** Closes what {@link #borrow} gave: it is not fit to be used again. */
    void discard(PlannedInterpreter interpreter) {
        release(interpreter, false);
    }

    private void release(PlannedInterpreter interpreter, boolean keep) {
        lock.lock();
        try {
            busy.remove(interpreter);
            if (keep && !closed && isCurrent(interpreter)) {
                idle.addFirst(new Idle(interpreter, System.nanoTime()));
                if (idle.size() > 1) {
                    scheduleSweep();
                }
            } else {
                interpreter.close();
            }
            changed.signal();
            announceEmpty();
        } finally {
            lock.unlock();
        }
    }

    private void scheduleSweep() {
        if (!sweepPending) {
            sweepPending = Later.run(Duration.ofNanos(idleNanos), this::sweep);
        }
    }

    private void sweep() {
        lock.lock();
        try {
            sweepPending = false;
            long now = System.nanoTime();
            while (idle.size() > 1 && now - idle.getLast().sinceNanos() >= idleNanos) {
                idle.removeLast().interpreter().close();
            }
            if (idle.size() > 1) {
                scheduleSweep();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Returns the interpreters that exist now. */
    List<PlannedInterpreter> interpreters() {
        lock.lock();
        try {
            ImmutableList.Builder<PlannedInterpreter> all = ImmutableList.builder();
            idle.forEach(i -> all.add(i.interpreter()));
            return all.addAll(busy).build();
        } finally {
            lock.unlock();
        }
    }

    /** Closes idle interpreters now and the others when they come back. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            idle.forEach(i -> i.interpreter().close());
            idle.clear();
            changed.signalAll();
            announceEmpty();
        } finally {
            lock.unlock();
        }
    }

    private void announceEmpty() {
        if (closed && !emptied && busy.isEmpty() && building == 0) {
            emptied = true;
            whenEmpty.run();
        }
    }
}
