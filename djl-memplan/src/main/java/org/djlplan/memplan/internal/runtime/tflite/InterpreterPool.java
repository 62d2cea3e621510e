package org.djlplan.memplan.internal.runtime.tflite;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.djlplan.memplan.internal.runtime.Uses;
import org.djlplan.memplan.internal.thread.Later;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * The interpreters of one model, for all candidates that serve. Each interpreter is used by one
 * thread at a time. The pool never waits: the gate lets at most {@code limit} predictions of the
 * model pass at once. The pool keeps at most {@code limit} interpreters, and one more for each
 * candidate beyond the first. Idle interpreters are closed after some time, except the model's last
 * one. Idle interpreters for other shapes than the file's are closed earlier if they hold much
 * memory.
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
    private final Uses uses = new Uses();
    private final Runnable whenClosed;
    private final AtomicBoolean closed = new AtomicBoolean();

    /** Calls of {@link #enter} without their {@link #leave}. */
    private final AtomicInteger visits = new AtomicInteger();

    // Guarded by this.
    private final IdleInterpreters idle;
    private final Set<ModelInterpreter> busy = new HashSet<>();

    /** Number of interpreters that borrowers have, build, or allocate for other shapes. */
    private int lent;

    private boolean sweepPending;

    /**
     * @param limit how many interpreters are in use at once
     * @param idleAfter how long an unused one is kept
     * @param supply makes the interpreters
     * @param whenClosed called once, when the pool is closed and the last interpreter is gone
     */
    public InterpreterPool(int limit, Duration idleAfter, Supply supply, Runnable whenClosed) {
        this.limit = limit;
        this.supply = supply;
        this.whenClosed = whenClosed;
        idle = new IdleInterpreters(idleAfter);
    }

    /** Begins a use, which the pool outlives; returns false, and begins none, if it is closed. */
    public boolean begin() {
        return uses.begin();
    }

    /** Ends what {@link #begin} began. */
    public void end() {
        uses.end();
    }

    /** Does the same as {@link #begin}, for a use that builds interpreters in the background. */
    public boolean enter() {
        boolean open = begin();
        visits.addAndGet(open ? 1 : 0);
        return open;
    }

    /** Ends what {@link #enter} began. */
    public void leave() {
        visits.decrementAndGet();
        end();
    }

    /** Returns whether interpreters are built in the background. */
    public boolean isVisited() {
        return visits.get() > 0;
    }

    /**
     * Returns an interpreter for these shapes that is the caller's until {@link #giveBack}. Builds
     * one, or allocates another one for these shapes, if necessary. Only during a use.
     *
     * @param wanted a candidate that serves; if it no longer does, the result is for another one
     */
    public ModelInterpreter borrow(List<List<Integer>> shapes, Candidate wanted)
            throws UnplannableException {
        Optional<ModelInterpreter> evicted = Optional.empty();
        Optional<ModelInterpreter> other;
        synchronized (this) {
            Candidate candidate = supply.serving(shapes, wanted);
            Optional<ModelInterpreter> found = idle.take(shapes, candidate);
            boolean room = idle.size() + lent < most();
            lent++;
            if (found.isPresent()) {
                busy.add(found.get());
                idle.noteShapes(shapes, found.get().hasShapesInFile());
                return found.get();
            }
            other = idle.takeOther(shapes, candidate, room, supply);
            if (other.isEmpty() && !room && !idle.isEmpty()) {
                evicted = Optional.of(idle.takeOldest());
            }
            idle.noteShapes(shapes, supply.isInFile(shapes));
        }
        boolean made = false;
        try {
            evicted.ifPresent(ModelInterpreter::close);
            ModelInterpreter result =
                    other.isPresent()
                            ? reshaped(other.get(), shapes)
                            : supply.build(shapes, wanted);
            made = true;
            synchronized (this) {
                busy.add(result);
            }
            return result;
        } finally {
            if (!made) {
                synchronized (this) {
                    lent--;
                }
            }
        }
    }

    private ModelInterpreter reshaped(ModelInterpreter interpreter, List<List<Integer>> shapes)
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
     * Switches to other candidates between two predictions. Interpreters of candidates that no
     * longer serve are closed: idle ones now, busy ones when they are given back. Only during a
     * use.
     *
     * @param change switches the supply
     * @param first an interpreter of a new candidate; empty if none was built in advance
     */
    public void switchTo(Runnable change, Optional<ModelInterpreter> first) {
        List<ModelInterpreter> gone;
        synchronized (this) {
            change.run();
            gone = idle.takeUnserved(supply);
            first.ifPresent(idle::addUnused);
        }
        gone.forEach(ModelInterpreter::close);
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
        List<ModelInterpreter> gone = List.of(interpreter);
        synchronized (this) {
            busy.remove(interpreter);
            lent--;
            if (keep && idle.size() + lent < most() && supply.serves(interpreter)) {
                idle.addUsed(interpreter);
                gone = idle.takeLarge();
                scheduleSweep();
            }
        }
        gone.forEach(ModelInterpreter::close);
    }

    /** Schedules closing of interpreters that stay idle, except the only one. */
    private void scheduleSweep() {
        if (!sweepPending && hasOthers()) {
            sweepPending = true;
            Later.run(idle.kept(), this::sweep);
        }
    }

    private boolean hasOthers() {
        return !idle.isEmpty() && idle.size() + busy.size() > 1;
    }

    private void sweep() {
        if (uses.begin()) {
            try {
                takeStale().forEach(ModelInterpreter::close);
            } finally {
                uses.end();
            }
        }
    }

    private synchronized List<ModelInterpreter> takeStale() {
        List<ModelInterpreter> stale = new ArrayList<>();
        sweepPending = false;
        long now = System.nanoTime();
        while (hasOthers() && idle.isOldestStale(now)) {
            stale.add(idle.takeOldest());
        }
        scheduleSweep();
        return stale;
    }

    /** Returns the interpreters that are idle or in use. */
    public synchronized List<ModelInterpreter> interpreters() {
        return ImmutableList.<ModelInterpreter>builder()
                .addAll(idle.interpreters())
                .addAll(busy)
                .build();
    }

    /** Lets no other use begin, and closes all interpreters after the last one. Idempotent. */
    @Override
    public void close() {
        if (!closed.getAndSet(true)) {
            uses.close(this::closeAll);
        }
    }

    private void closeAll() {
        List<ModelInterpreter> all;
        synchronized (this) {
            all = idle.takeAll();
        }
        try {
            all.forEach(ModelInterpreter::close);
        } finally {
            whenClosed.run();
        }
    }
}
