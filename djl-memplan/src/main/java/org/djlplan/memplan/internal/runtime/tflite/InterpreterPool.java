package org.djlplan.memplan.internal.runtime.tflite;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.djlplan.memplan.internal.thread.Later;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * The interpreters of one model, for all candidates that serve. Each interpreter is used by one
 * thread at a time. The pool never waits: the gate lets at most {@code limit} predictions of the
 * model pass at once. At most {@code limit} interpreters exist, plus one for each candidate beyond
 * the first, plus those that the pool is closing or preparing for other candidates. Idle
 * interpreters are closed after some time, except the model's last one. Idle interpreters for other
 * shapes than the file's are closed earlier if they hold much memory.
 */
public final class InterpreterPool implements AutoCloseable {

    /** Decides which candidates serve, and builds their interpreters. */
    public interface Supply {

        /** Returns how many candidates serve now. */
        int candidates();

        /**
         * Returns the candidate for inputs of these shapes: the wanted one if it still serves,
         * otherwise another one that does.
         */
        Candidate serving(List<List<Integer>> shapes, Candidate wanted);

        /**
         * Builds an interpreter.
         *
         * @param wanted a candidate that served just now; the result may be for another one
         * @throws UnplannableException if the model cannot be planned for these shapes
         */
        ModelInterpreter build(List<List<Integer>> shapes, Candidate wanted)
                throws UnplannableException;

        /** Returns whether an interpreter can be allocated for other shapes. */
        boolean reshapes(ModelInterpreter interpreter, List<List<Integer>> shapes);

        /** Returns whether these are the shapes in the model's file. */
        boolean isInFile(List<List<Integer>> shapes);

        /**
         * Allocates an interpreter for other shapes. If that fails, the caller closes it.
         *
         * @throws UnplannableException if the model cannot be planned for these shapes
         */
        void reshape(ModelInterpreter interpreter, List<List<Integer>> shapes)
                throws UnplannableException;

        /** Returns whether an interpreter's candidate still serves inputs of its shapes. */
        default boolean serves(ModelInterpreter interpreter) {
            Candidate candidate = serving(interpreter.shapes(), interpreter.candidate());
            return interpreter.delegates(candidate);
        }
    }

    private final int limit;
    private final Supply supply;
    private final ReentrantLock lock = new ReentrantLock();
    private final IdleInterpreters idle;
    private final Set<ModelInterpreter> busy = new HashSet<>();

    /** Number of interpreters that borrowers build, or allocate for other shapes. */
    private int building;

    /**
     * Number of interpreters that are being closed, without the lock because that may take long.
     */
    private int closing;

    /** Calls of {@link #enter} without their {@link #leave}. */
    private int visits;

    private boolean closed;

    /** Called when the pool is closed and its last interpreter is gone; empty from then on. */
    private Optional<Runnable> whenEmpty;

    private boolean sweepPending;

    /**
     * @param limit how many interpreters are in use at once
     * @param idleAfter how long an unused one is kept
     * @param supply makes the interpreters
     * @param whenEmpty called once, when the pool is closed and the last interpreter is gone
     */
    public InterpreterPool(int limit, Duration idleAfter, Supply supply, Runnable whenEmpty) {
        this.limit = limit;
        this.supply = supply;
        idle = new IdleInterpreters(idleAfter);
        this.whenEmpty = Optional.of(whenEmpty);
    }

    /**
     * Returns an interpreter for these shapes that is the caller's until {@link #giveBack}. Builds
     * one, or allocates another one for these shapes, if necessary.
     *
     * @param wanted a candidate that serves; if it no longer does, the result is for another one
     */
    public ModelInterpreter borrow(List<List<Integer>> shapes, Candidate wanted)
            throws UnplannableException {
        List<ModelInterpreter> evicted = List.of();
        Optional<ModelInterpreter> reshaped;
        lock.lock();
        try {
            checkState(!closed, "the model is closed");
            Candidate candidate = supply.serving(shapes, wanted);
            Optional<ModelInterpreter> found = idle.take(shapes, candidate);
            if (found.isPresent()) {
                busy.add(found.get());
                idle.noteShapes(shapes, found.get().hasShapesInFile());
                return found.get();
            }
            boolean room = idle.size() + busy.size() + building + closing < most();
            reshaped = idle.takeOther(shapes, candidate, room, supply);
            if (reshaped.isEmpty() && !room && !idle.isEmpty()) {
                evicted = List.of(idle.takeOldest());
                closing++;
            }
            building++;
            idle.noteShapes(shapes, supply.isInFile(shapes));
        } finally {
            lock.unlock();
        }
        if (reshaped.isEmpty()) {
            return finish(evicted, () -> supply.build(shapes, wanted));
        }
        ModelInterpreter other = reshaped.get();
        return finish(evicted, () -> reshape(other, shapes));
    }

    private ModelInterpreter reshape(ModelInterpreter interpreter, List<List<Integer>> shapes)
            throws UnplannableException {
        boolean fits = false;
        try {
            supply.reshape(interpreter, shapes);
            fits = true;
            return interpreter;
        } finally {
            if (!fits) {
                interpreter.close();
            }
        }
    }

    /**
     * Has room for one interpreter per further candidate, so that returning to an earlier candidate
     * builds none.
     */
    private int most() {
        return limit + supply.candidates() - 1;
    }

    /**
     * Does nothing while the pool is open.
     *
     * @throws IllegalStateException if it is closed
     */
    public void requireOpen() {
        lock.lock();
        try {
            checkState(!closed, "the model is closed");
        } finally {
            lock.unlock();
        }
    }

    /**
     * Keeps the pool, and with it the model, from ending until {@link #leave}, because an
     * interpreter is built outside.
     *
     * @throws IllegalStateException if it is closed
     */
    public void enter() {
        lock.lock();
        try {
            checkState(!closed, "the model is closed");
            visits++;
        } finally {
            lock.unlock();
        }
    }

    /** Returns whether an interpreter is built outside. */
    public boolean isVisited() {
        lock.lock();
        try {
            return visits > 0;
        } finally {
            lock.unlock();
        }
    }

    public void leave() {
        lock.lock();
        try {
            visits--;
            announceEmpty();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Switches to other candidates between two predictions. Interpreters of candidates that no
     * longer serve are closed: idle ones now, busy ones when they are given back.
     *
     * @param change switches the supply; not called if the pool is closed
     * @param first an interpreter of a new candidate; empty if none was built in advance
     */
    public void switchTo(Runnable change, Optional<ModelInterpreter> first) {
        List<ModelInterpreter> gone;
        lock.lock();
        try {
            if (closed) {
                gone = first.isPresent() ? List.of(first.get()) : List.of();
            } else {
                change.run();
                gone = idle.takeUnserved(supply);
                if (first.isPresent()) {
                    idle.addUnused(first.get());
                }
            }
            closing += gone.size();
        } finally {
            lock.unlock();
        }
        dispose(gone);
    }

    /**
     * Closes interpreters that are counted as closing. The pool's end is announced even if closing
     * fails.
     */
    private void dispose(List<ModelInterpreter> gone) {
        if (gone.isEmpty()) {
            return;
        }
        try {
            for (ModelInterpreter each : gone) {
                each.close();
            }
        } finally {
            lock.lock();
            try {
                closing -= gone.size();
                announceEmpty();
            } finally {
                lock.unlock();
            }
        }
    }

    private interface Work {
        ModelInterpreter run() throws UnplannableException;
    }

    private ModelInterpreter finish(List<ModelInterpreter> evictedBefore, Work work)
            throws UnplannableException {
        ModelInterpreter built = null;
        try {
            dispose(evictedBefore);
            built = work.run();
            return built;
        } finally {
            lock.lock();
            try {
                building--;
                if (built != null) {
                    busy.add(built);
                }
                announceEmpty();
            } finally {
                lock.unlock();
            }
        }
    }

    /** Takes an interpreter of {@link #borrow} back. */
    public void giveBack(ModelInterpreter interpreter) {
        release(interpreter, true);
    }

    /** Closes an interpreter of {@link #borrow} that must not be used again. */
    public void discard(ModelInterpreter interpreter) {
        release(interpreter, false);
    }

    private void release(ModelInterpreter interpreter, boolean keep) {
        List<ModelInterpreter> gone = List.of();
        lock.lock();
        try {
            busy.remove(interpreter);
            boolean room = idle.size() + busy.size() + building < most();
            if (keep && room && !closed && supply.serves(interpreter)) {
                idle.addUsed(interpreter);
                gone = idle.takeLarge();
                scheduleSweep();
            } else {
                gone = List.of(interpreter);
            }
            closing += gone.size();
        } finally {
            lock.unlock();
        }
        dispose(gone);
    }

    /** Schedules closing of interpreters that stay idle, except the only one. */
    private void scheduleSweep() {
        if (!sweepPending && hasOthers()) {
            sweepPending = Later.run(idle.kept(), this::sweep);
        }
    }

    private boolean hasOthers() {
        return !idle.isEmpty() && idle.size() + busy.size() > 1;
    }

    private void sweep() {
        List<ModelInterpreter> gone = new ArrayList<>();
        lock.lock();
        try {
            sweepPending = false;
            long now = System.nanoTime();
            while (hasOthers() && idle.isOldestStale(now)) {
                gone.add(idle.takeOldest());
            }
            closing += gone.size();
            scheduleSweep();
        } finally {
            lock.unlock();
        }
        dispose(gone);
    }

    /** Returns the interpreters that are idle or in use. */
    public List<ModelInterpreter> interpreters() {
        lock.lock();
        try {
            return ImmutableList.<ModelInterpreter>builder()
                    .addAll(idle.interpreters())
                    .addAll(busy)
                    .build();
        } finally {
            lock.unlock();
        }
    }

    /** Closes idle interpreters now, and the others when they are given back. */
    @Override
    public void close() {
        List<ModelInterpreter> gone;
        lock.lock();
        try {
            closed = true;
            gone = idle.takeAll();
            closing += gone.size();
            announceEmpty();
        } finally {
            lock.unlock();
        }
        dispose(gone);
    }

    private void announceEmpty() {
        boolean empty = busy.isEmpty() && building == 0 && closing == 0 && visits == 0;
        if (closed && empty && whenEmpty.isPresent()) {
            Runnable end = whenEmpty.get();
            whenEmpty = Optional.empty();
            end.run();
        }
    }
}
