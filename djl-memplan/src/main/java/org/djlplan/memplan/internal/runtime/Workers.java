package org.djlplan.memplan.internal.runtime;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.events.Waits;
import org.djlplan.memplan.internal.thread.DaemonThreads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs forward passes of any number of callers on a few threads, because an engine and the C
 * library keep memory for every thread that ever ran one.
 *
 * <p>At most as many passes run at once as there are workers. Other callers wait in order of
 * arrival, and models take turns, so that no model waits behind another one's queue. The first
 * callers each have a <em>seat</em>: while no caller waits, their passes run on their own threads,
 * so that an application with few callers has no overhead. While other callers wait, passes of
 * seated callers are handed over to worker threads, like all other passes. Workers end when they
 * are idle. A seat becomes free when its thread has ended, or has not called for long.
 *
 * <p>If a pass begins within another pass, it runs on the same thread. A caller waits
 * uninterruptibly, because its arrays are in use; the caller's interrupt status is restored
 * afterwards. If no pass ends for a long time, because passes wait for passes of other threads, the
 * waiting passes start one by one.
 */
public final class Workers {

    private static final Logger logger = LoggerFactory.getLogger(Workers.class);

    private static final Map<Integer, Workers> ALL = new ConcurrentHashMap<>();

    /**
     * Set while this thread runs a pass. Only JDK types, because threads outlive this class loader.
     */
    private static final ThreadLocal<Boolean> RUNNING = new ThreadLocal<>();

    private static final Duration IDLE = Duration.ofSeconds(5);
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final int count;
    private final long idleNanos;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition work = lock.newCondition();
    private final Queue waiting = new Queue();
    private final Seats seats;
    private final Progress progress;

    private int running;
    private int threads;
    private int idle;
    private int started;

    /** A pass that is handed over to a worker. */
    private static final class Pass<T> {
        private final Object model;
        private final Supplier<T> task;
        private final Thread caller = Thread.currentThread();
        private T result;
        private Throwable problem;
        private boolean interrupted;
        private volatile boolean done;

        /** When it was queued, if all workers were busy then; otherwise 0. */
        private long queuedSince;

        private long waitedNanos;

        private Pass(Object model, Supplier<T> task) {
            this.model = model;
            this.task = task;
        }

        private void run() {
            waitedNanos = queuedSince == 0 ? 0 : System.nanoTime() - queuedSince;
            try {
                result = task.get();
            } catch (Throwable e) {
                problem = e;
            }
            // Propagates the worker's interrupt status to the caller.
            interrupted = Thread.interrupted();
        }

        private void release() {
            done = true;
            LockSupport.unpark(caller);
        }
    }

    /** The waiting passes, by model; the model at the front is next, and then moves to the back. */
    private static final class Queue {
        private final Map<Object, ArrayDeque<Pass<?>>> models = new LinkedHashMap<>();
        private int size;

        private void add(Pass<?> pass) {
            models.computeIfAbsent(pass.model, model -> new ArrayDeque<>()).add(pass);
            size++;
        }

        private Pass<?> peek() {
            return models.values().iterator().next().element();
        }

        private Pass<?> remove() {
            Pass<?> next = peek();
            ArrayDeque<Pass<?>> others = models.remove(next.model);
            others.remove();
            if (!others.isEmpty()) {
                models.put(next.model, others);
            }
            size--;
            return next;
        }

        private void removeLast(Pass<?> pass) {
            ArrayDeque<Pass<?>> passes = models.get(pass.model);
            passes.removeLast();
            if (passes.isEmpty()) {
                models.remove(pass.model);
            }
            size--;
        }

        private boolean isEmpty() {
            return size == 0;
        }
    }

    Workers(int count, Duration idle, Duration patience) {
        this(count, count, idle, patience);
    }

    private Workers(int count, int seats, Duration idle, Duration patience) {
        checkArgument(count > 0, "%s workers", count);
        this.count = count;
        idleNanos = idle.toNanos();
        progress = new Progress(patience);
        this.seats = new Seats(seats);
    }

    /** Returns one worker, on whose thread all passes run: no caller has a seat. */
    public static Workers one() {
        return new Workers(1, 0, IDLE, PATIENCE);
    }

    /** Returns this process's group of so many workers. */
    public static Workers of(int count) {
        return ALL.computeIfAbsent(count, number -> new Workers(number, IDLE, PATIENCE));
    }

    /** Returns the current figures of all workers of this process. */
    public static WorkersMetric metric() {
        int busy = 0;
        int waiting = 0;
        for (Workers workers : ALL.values()) {
            workers.lock.lock();
            try {
                busy += workers.running;
                waiting += workers.waiting.size;
            } finally {
                workers.lock.unlock();
            }
        }
        return new WorkersMetric(busy, waiting);
    }

    /** Returns whether this thread runs a pass. */
    public static boolean isRunning() {
        return RUNNING.get() != null;
    }

    /** Runs a pass that does not depend on its thread, here or on a worker. */
    public <T> T run(Object model, Supplier<T> pass) {
        return run(model, pass, () -> pass);
    }

    /**
     * Runs a pass, here or on a worker.
     *
     * @param model the pass's model; models are compared by {@code equals}
     * @param inPlace runs it on this thread
     * @param handOver called on this thread; returns the code that runs the pass on another one
     * @return the pass's result
     * @throws RuntimeException the pass's exception, with this thread's stack below the worker's;
     *     errors likewise
     */
    public <T> T run(Object model, Supplier<T> inPlace, Supplier<Supplier<T>> handOver) {
        if (isRunning()) {
            return inPlace.get();
        }
        if (seated()) {
            return runInPlace(inPlace);
        }
        Pass<T> pass = new Pass<>(model, handOver.get());
        if (!enqueue(pass)) {
            return runInPlace(inPlace);
        }
        await(pass);
        if (pass.waitedNanos > 0) {
            Waits.add(Waits.Lack.WORKERS, pass.waitedNanos);
        }
        HeapTrimmer.touch();
        if (pass.problem != null) {
            throw rethrown(pass.problem);
        }
        return pass.result;
    }

    private <T> T runInPlace(Supplier<T> task) {
        long begin = System.nanoTime();
        RUNNING.set(true);
        try {
            return task.get();
        } finally {
            RUNNING.remove();
            end(begin);
        }
    }

    private void end(long begin) {
        lock.lock();
        try {
            running--;
            progress.end(begin, System.nanoTime());
            if (idle > 0 && !waiting.isEmpty()) {
                work.signal();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Begins a pass in place if this thread may run one now. */
    private boolean seated() {
        Thread thread = Thread.currentThread();
        if (VirtualThreads.isCurrent() || !seats.exist()) {
            return false;
        }
        lock.lock();
        try {
            boolean begins = seats.take(thread) && running < count && waiting.isEmpty();
            if (begins) {
                running++;
            }
            return begins;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Queues a pass for a worker.
     *
     * @return whether a worker will run it; if not, its caller may run it at once
     */
    private boolean enqueue(Pass<?> pass) {
        lock.lock();
        try {
            pass.queuedSince = running >= count ? System.nanoTime() : 0;
            waiting.add(pass);
            if (running == 0 && waiting.size == 1) {
                progress.restart(System.nanoTime());
            }
            work.signal();
            boolean wanted = waiting.size > idle && threads < count;
            if (wanted && !start() && threads == 0) {
                waiting.removeLast(pass);
                running++;
                return false;
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    private boolean start() {
        started++;
        Thread thread = DaemonThreads.make(this::work, "djl-plan-worker-" + count + "-" + started);
        try {
            thread.start();
        } catch (OutOfMemoryError e) {
            logger.debug("no thread can be started", e);
            return false;
        }
        threads++;
        return true;
    }

    private void work() {
        RUNNING.set(true);
        Optional<Pass<?>> pass = take();
        while (pass.isPresent()) {
            long begin = System.nanoTime();
            try {
                pass.get().run();
            } finally {
                // Before the caller can come again.
                end(begin);
                pass.get().release();
            }
            pass = take();
        }
    }

    /**
     * Waits for a pass that may begin; empty if this worker is to end, because there was none for
     * long.
     */
    private Optional<Pass<?>> take() {
        lock.lock();
        idle++;
        try {
            long left = idleNanos;
            while (waiting.isEmpty() || running >= count) {
                if (left <= 0 && waiting.isEmpty()) {
                    threads--;
                    return Optional.empty();
                }
                // A pass waits, perhaps for long: this worker stays, but looks only now and then.
                left = work.awaitNanos(left > 0 ? left : idleNanos);
            }
            running++;
            return Optional.of(waiting.remove());
        } catch (InterruptedException e) {
            // Our code never interrupts a worker: perhaps the whole process ends.
            threads--;
            return Optional.empty();
        } finally {
            idle--;
            lock.unlock();
        }
    }

    private void await(Pass<?> pass) {
        boolean interrupted = false;
        while (!pass.done) {
            LockSupport.parkNanos(this, progress.patienceNanos());
            interrupted |= Thread.interrupted();
            if (!pass.done && mayOvertake(pass)) {
                boolean unused =
                        runInPlace(
                                () -> {
                                    pass.run();
                                    return true;
                                });
                pass.release();
            }
        }
        if (interrupted || pass.interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Takes a pass out of the queue if no pass ends, because the running ones may wait for it. */
    private boolean mayOvertake(Pass<?> pass) {
        lock.lock();
        try {
            long now = System.nanoTime();
            if (!progress.isStuck(now) || waiting.isEmpty() || waiting.peek() != pass) {
                return false;
            }
            Pass<?> unused = waiting.remove();
            running++;
            progress.restart(now);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Replaces the end of a worker's stack trace by the caller's stack trace. */
    private static RuntimeException rethrown(Throwable problem) {
        StackTraceElement[] there = problem.getStackTrace();
        StackTraceElement[] here = new Throwable().getStackTrace();
        Stream<StackTraceElement> below = Arrays.stream(here).skip(1);
        problem.setStackTrace(
                Stream.concat(
                                Arrays.stream(there)
                                        .takeWhile(
                                                frame ->
                                                        !frame.getClassName()
                                                                .equals(Pass.class.getName())),
                                below)
                        .toArray(StackTraceElement[]::new));
        if (problem instanceof Error error) {
            throw error;
        }
        if (problem instanceof RuntimeException exception) {
            return exception;
        }
        return sneaky(problem);
    }

    /** A block written in another language may throw any exception. */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <E extends Throwable> RuntimeException sneaky(Throwable problem) throws E {
        throw (E) problem;
    }
}
