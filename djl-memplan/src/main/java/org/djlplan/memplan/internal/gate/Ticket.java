package org.djlplan.memplan.internal.gate;

import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.events.Waits;
import org.djlplan.memplan.report.PoolReport;

/** One prediction at the {@link Gate}, whose lock guards the fields unless it says otherwise. */
final class Ticket<T> {

    final Lane lane;

    private final Places large;
    private final Places whenCalm;

    /** Where it has a place while it runs. */
    private Places taken = Places.NONE;

    /** Since when it waits, and for what; 0 if it began at once. */
    private long waitsSince;

    private PoolReport.Cause lack = PoolReport.Cause.WORKERS;

    /** 0 before it begins. */
    private long beganNanos;

    /** Runs it on its caller's thread; set before the ticket is queued, as is {@link #task}. */
    private Supplier<T> here;

    /** Runs it on a worker. */
    private Supplier<T> task;

    /** Lets its caller continue. */
    private CountDownLatch passed;

    /** What its caller does then: run it, or return or throw the outcome of the worker's run. */
    private Supplier<T> next;

    /**
     * @param large where it takes a place
     * @param whenCalm where it takes a place while its model is calm
     */
    Ticket(Lane lane, Places large, Places whenCalm) {
        this.lane = lane;
        this.large = large;
        this.whenCalm = whenCalm;
    }

    /** Returns where it may take a place now. */
    Places suitable(long now) {
        lane.countUntil(now);
        return lane.isCalm() ? whenCalm : large;
    }

    /** Returns where it took its place. */
    Places taken() {
        return taken;
    }

    /**
     * Prepares to wait.
     *
     * @param runsHere runs it on its caller's thread
     * @param runsThere runs it on a worker
     */
    void prepare(Supplier<T> runsHere, Supplier<T> runsThere) {
        here = runsHere;
        task = runsThere;
        passed = new CountDownLatch(1);
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

    /** Returns the latch that lets its caller continue. */
    CountDownLatch passed() {
        return passed;
    }

    /** Returns what its caller does then. */
    Supplier<T> next() {
        return next;
    }

    /** Lets its caller run it. */
    void passHere() {
        continueWith(here);
    }

    /** Lets its caller continue. */
    void continueWith(Supplier<T> last) {
        next = last;
        passed.countDown();
    }

    /** Counts the wait, if there was one; on its caller's thread. */
    void countWait() {
        if (waitsSince != 0) {
            Waits.add(lack, beganNanos - waitsSince);
        }
    }

    /** Runs it on this worker, and returns what its caller does then. */
    Supplier<T> work() {
        Supplier<T> outcome = outcome();
        if (!Thread.interrupted()) {
            return outcome;
        }
        return () -> {
            Thread.currentThread().interrupt();
            return outcome.get();
        };
    }

    private Supplier<T> outcome() {
        try {
            T result = Gate.asPartOf(lane, task);
            return () -> result;
        } catch (Throwable e) {
            return () -> {
                throw rethrown(e);
            };
        }
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
