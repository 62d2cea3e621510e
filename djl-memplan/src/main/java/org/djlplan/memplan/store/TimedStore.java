package org.djlplan.memplan.store;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.djlplan.memplan.spi.SharedStore;
import org.djlplan.memplan.thread.DaemonThreads;

/**
 * A store that answers in time or fails. It is asked on a few threads that all stores of this JVM
 * share: should a mount hang for good, these hang, and no others are made.
 */
public final class TimedStore implements SharedStore {

    private static final int THREADS = 4;
    private static final int MOST_WAITING = 64;

    private static final ThreadPoolExecutor POOL = newPool();

    /** How many answers in a row were not there in time. */
    private static volatile int missed;

    private final SharedStore inner;
    private final Duration limit;

    /**
     * @param limit for each operation
     */
    public TimedStore(SharedStore inner, Duration limit) {
        this.inner = inner instanceof TimedStore timed ? timed.inner : inner;
        this.limit = limit;
    }

    /** They end when there is nothing to do: they would keep our classes from being unloaded. */
    private static ThreadPoolExecutor newPool() {
        ThreadPoolExecutor pool =
                new ThreadPoolExecutor(
                        THREADS,
                        THREADS,
                        1,
                        TimeUnit.SECONDS,
                        new LinkedBlockingQueue<>(MOST_WAITING),
                        DaemonThreads.named("djl-plan-shared-store"));
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    /** Returns whether the last that was asked did not answer in time: nobody is to wait then. */
    public static boolean hangs() {
        return missed > 0;
    }

    private <T> T timed(Callable<T> operation) throws IOException {
        Future<T> answer;
        try {
            answer = POOL.submit(() -> inContext(operation));
        } catch (RejectedExecutionException e) {
            throw new IOException(inner + " does not answer, as others before", e);
        }
        try {
            T result = answer.get(limit.toNanos(), TimeUnit.NANOSECONDS);
            missed = 0;
            return result;
        } catch (TimeoutException e) {
            missed = 1;
            throw new IOException(inner + " did not answer in " + limit.toMillis() + " ms", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while " + inner + " was asked", e);
        } catch (ExecutionException e) {
            // Somebody else's code: whatever it throws means that it did not work.
            throw new IOException(inner + ": " + e.getCause(), e.getCause());
        } finally {
            if (answer.cancel(true)) {
                POOL.purge();
            }
        }
    }

    /** A store's own libraries may look for classes by the thread's loader, which is not kept. */
    private <T> T inContext(Callable<T> operation) throws Exception {
        Thread thread = Thread.currentThread();
        thread.setContextClassLoader(inner.getClass().getClassLoader());
        try {
            return operation.call();
        } finally {
            thread.setContextClassLoader(null);
        }
    }

    @Override
    public Optional<byte[]> get(String name) throws IOException {
        return timed(() -> inner.get(name));
    }

    @Override
    public void put(String name, byte[] content) throws IOException {
        boolean unused =
                timed(
                        () -> {
                            inner.put(name, content);
                            return true;
                        });
    }

    @Override
    public boolean putIfAbsent(String name, byte[] content) throws IOException {
        return timed(() -> inner.putIfAbsent(name, content));
    }

    @Override
    public String toString() {
        return inner.toString();
    }
}
