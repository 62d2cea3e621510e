package org.djlplan.memplan.internal.gate;

import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.events.Waits;
import org.djlplan.memplan.report.PoolReport;

/** One prediction at the {@link Gate}, whose lock guards the fields unless it says otherwise. */
final class Ticket<T> {

    final Lane lane;

    private final Places large;
    private final Places whenCalm;

    /** The places of which it has one from its beginning to its end. */
    private Places taken = Places.NONE;

    private final Thread caller = Thread.currentThread();

    /** Since when it waits, and for what; 0 if it began at once. */
    private long waitsSince;

    private PoolReport.Cause lack = PoolReport.Cause.WORKERS;

    /** 0 before it begins. */
    private long beganNanos;

    private volatile Stage stage = Stage.WAITING;

    /** Runs it on a worker. Written by the caller before the ticket is queued. */
    private Supplier<T> task;

    /** Returns or throws what the worker's run did. Written by the worker before it is done. */
    private Supplier<T> outcome;

    /** Whether the prediction interrupted its worker; written likewise. */
    private boolean interrupts;

    private enum Stage {
        /** It is queued, or on a worker. */
        WAITING,
        /** Its caller may run it. */
        HERE,
        /** A worker ran it. */
        DONE
    }

    /**
     * @param large the places of which it takes one
     * @param whenCalm the same while its model is calm
     */
    Ticket(Lane lane, Places large, Places whenCalm) {
        this.lane = lane;
        this.large = large;
        this.whenCalm = whenCalm;
    }

    /** Returns the places of which it may take one now. */
    Places suitable(long now) {
        lane.countUntil(now);
        return lane.isCalm() ? whenCalm : large;
    }

    /** Returns the places of which it took one. */
    Places taken() {
        return taken;
    }

    /**
     * @param task runs it on a worker
     */
    void setTask(Supplier<T> task) {
        this.task = task;
    }

    /** Notes that it waits, unless it has begun. */
    void noteWait() {
        if (beganNanos == 0) {
            waitsSince = System.nanoTime();
            boolean lacksModel = !lane.hasRoom() && suitable(waitsSince).haveRoom();
            lack = lacksModel ? lane.lack : PoolReport.Cause.WORKERS;
        }
    }

    void begin(Places places, long now) {
        beganNanos = now;
        lane.running++;
        taken = places;
        places.take(now);
    }

    void end() {
        lane.countUntil(System.nanoTime());
        lane.running--;
        taken.giveBack(beganNanos);
    }

    /** Lets its caller run it. */
    void passHere() {
        continueAt(Stage.HERE);
    }

    private void continueAt(Stage next) {
        stage = next;
        LockSupport.unpark(caller);
    }

    boolean isWaiting() {
        return stage == Stage.WAITING;
    }

    boolean isDone() {
        return stage == Stage.DONE;
    }

    /** Counts the wait, if there was one; on its caller's thread. */
    void countWait() {
        if (waitsSince != 0) {
            Waits.add(lack, beganNanos - waitsSince);
        }
    }

    /** Runs it on this worker. */
    void work() {
        try {
            T result = Gate.asPartOf(lane, task);
            outcome = () -> result;
        } catch (Throwable e) {
            outcome =
                    () -> {
                        throw rethrown(e);
                    };
        }
        // Propagates the worker's interrupt status to the caller.
        interrupts = Thread.interrupted();
    }

    /** Lets its caller continue after {@link #work}. */
    void release() {
        continueAt(Stage.DONE);
    }

    /** Returns whether the prediction interrupted its worker. */
    boolean interrupts() {
        return interrupts;
    }

    /** Returns what the worker's run returned, or throws what it threw. */
    T result() {
        return outcome.get();
    }

    /** Replaces the end of a worker's stack trace by the caller's stack trace. */
    private static RuntimeException rethrown(Throwable problem) {
        Stream<StackTraceElement> there =
                Arrays.stream(problem.getStackTrace())
                        .takeWhile(frame -> !frame.getClassName().equals(Ticket.class.getName()));
        Stream<StackTraceElement> here =
                Arrays.stream(new Throwable().getStackTrace())
                        .dropWhile(frame -> frame.getClassName().equals(Ticket.class.getName()));
        problem.setStackTrace(Stream.concat(there, here).toArray(StackTraceElement[]::new));
        if (problem instanceof Error error) {
            throw error;
        }
        return problem instanceof RuntimeException exception ? exception : sneaky(problem);
    }

    /** A block written in another language may throw any exception. */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <E extends Throwable> RuntimeException sneaky(Throwable problem) throws E {
        throw (E) problem;
    }
}
