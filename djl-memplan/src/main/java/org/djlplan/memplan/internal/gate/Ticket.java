package org.djlplan.memplan.internal.gate;

import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.events.Waits;
import org.djlplan.memplan.internal.runtime.VirtualThreads;
import org.djlplan.memplan.report.PoolReport;

/** One prediction at the {@link Gate}, whose lock guards the fields unless it says otherwise. */
final class Ticket<T> {

    final Lane lane;
    private final Places places;
    private final Places lightPlaces;
    private final LongSupplier expectedBytes;
    private final Thread caller = Thread.currentThread();

    /** Whether the prediction is part of another one, whose thread and place it uses. */
    private final boolean nested;

    /** The places of which it has one, until its end. */
    Optional<Places> taken = Optional.empty();

    /** Since when it waits, and for what; 0 if it began at once. */
    private long waitsSince;

    private PoolReport.Cause lack = PoolReport.Cause.WORKERS;
    private long beganNanos;
    private volatile Stage stage = Stage.WAITING;

    /** Written by the caller before the ticket is queued, then by a worker. */
    private final Handover<T> handover = new Handover<>();

    private enum Stage {
        /** It is queued, or on a worker. */
        WAITING,
        /** Its caller may run it. */
        HERE,
        /** A worker ran it. */
        DONE
    }

    /** The run on a worker. */
    private static final class Handover<T> {
        private Supplier<T> task;
        private T result;
        private Throwable problem;
        private boolean interrupted;
    }

    Ticket(
            Lane lane,
            Places places,
            Places lightPlaces,
            LongSupplier expectedBytes,
            boolean nested) {
        this.lane = lane;
        this.places = places;
        this.lightPlaces = lightPlaces;
        this.expectedBytes = expectedBytes;
        this.nested = nested;
    }

    /** Returns whether it needs no place, whatever its size. */
    boolean needsNoPlace() {
        return nested || !places.exist();
    }

    /** Returns the places of which it needs one, by the memory that it is expected to need now. */
    Places places() {
        return expectedBytes.getAsLong() <= Gate.LIGHT_BYTES ? lightPlaces : places;
    }

    /** Returns whether this thread, its caller's, may run it if the gate lets it pass now. */
    boolean mayRunHere() {
        return needsNoPlace() || (!VirtualThreads.isCurrent() && places().takeSeat(caller));
    }

    /**
     * @param task runs it on a worker
     */
    void setTask(Supplier<T> task) {
        handover.task = task;
    }

    /** Notes that it waits. */
    void beginToWait() {
        boolean lacksPlace = !needsNoPlace() && !places().areFree();
        lack = lacksPlace || lane.hasRoom() ? PoolReport.Cause.WORKERS : lane.lack;
        waitsSince = System.nanoTime();
    }

    /** Notes that it begins. */
    void begin(long now) {
        beganNanos = now;
    }

    boolean hasBegun() {
        return beganNanos != 0;
    }

    long beganNanos() {
        return beganNanos;
    }

    /** Lets its caller run it. */
    void passHere() {
        stage = Stage.HERE;
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
            handover.result = Gate.asPartOf(lane, handover.task);
        } catch (Throwable e) {
            handover.problem = e;
        }
        // Propagates the worker's interrupt status to the caller.
        handover.interrupted = Thread.interrupted();
    }

    /** Lets its caller continue after {@link #work}. */
    void release() {
        stage = Stage.DONE;
        LockSupport.unpark(caller);
    }

    /** Returns whether the prediction interrupted its worker. */
    boolean interrupts() {
        return handover.interrupted;
    }

    /** Returns what the worker's run returned, or throws what it threw. */
    T result() {
        if (handover.problem != null) {
            throw rethrown(handover.problem);
        }
        return handover.result;
    }

    /** Replaces the end of a worker's stack trace by the caller's stack trace. */
    private static RuntimeException rethrown(Throwable problem) {
        Stream<StackTraceElement> there =
                Arrays.stream(problem.getStackTrace())
                        .takeWhile(frame -> !frame.getClassName().equals(Ticket.class.getName()));
        Stream<StackTraceElement> here = Arrays.stream(new Throwable().getStackTrace()).skip(2);
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
