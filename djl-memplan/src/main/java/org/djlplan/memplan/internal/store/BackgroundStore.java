package org.djlplan.memplan.internal.store;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.djlplan.memplan.internal.thread.DaemonThreads;
import org.djlplan.memplan.internal.thread.ExitHook;
import org.djlplan.thirdparty.guava.annotations.VisibleForTesting;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes to another store in the background, so that no prediction waits for a disk. {@link #load}
 * finds values that are still waiting to be written. When a JVM ends in an orderly way, a shutdown
 * hook writes them.
 */
public final class BackgroundStore<T> implements Store<T> {

    private static final Logger logger = LoggerFactory.getLogger(BackgroundStore.class);

    /** Further values are dropped; they will be made again. */
    static final int MOST_WAITING = 64;

    private static final Duration LONGEST_FLUSH = Duration.ofSeconds(5);

    private static final ThreadPoolExecutor THREAD = newThread();

    private final Store<T> inner;
    private final Executor thread;

    /** In the order of writing; the first entry stays until it is written. */
    private final Map<StoreKey, Waiting<T>> waiting = new LinkedHashMap<>();

    private Optional<ExitHook> atExit = Optional.empty();

    /** A value to write, compared by identity. */
    private static final class Waiting<T> {
        private final T value;

        Waiting(T value) {
            this.value = value;
        }
    }

    /**
     * @param inner written to by one thread at a time
     */
    public BackgroundStore(Store<T> inner) {
        this(inner, THREAD);
    }

    @VisibleForTesting
    BackgroundStore(Store<T> inner, Executor thread) {
        this.inner = inner;
        this.thread = thread;
    }

    /**
     * The thread ends when it is idle, because it would prevent the unloading of djl-plan's
     * classes.
     */
    private static ThreadPoolExecutor newThread() {
        ThreadPoolExecutor thread =
                new ThreadPoolExecutor(
                        1,
                        1,
                        1,
                        TimeUnit.SECONDS,
                        new LinkedBlockingQueue<>(),
                        DaemonThreads.named("djl-plan-store"));
        thread.allowCoreThreadTimeOut(true);
        return thread;
    }

    @Override
    public Optional<T> load(StoreKey key) {
        synchronized (waiting) {
            Waiting<T> found = waiting.get(key);
            if (found != null) {
                return Optional.of(found.value);
            }
        }
        return inner.load(key);
    }

    @Override
    public void save(StoreKey key, T value) {
        synchronized (waiting) {
            boolean replaces = waiting.containsKey(key);
            if (!replaces && waiting.size() >= MOST_WAITING) {
                logger.debug("A value of {} is not stored: too many are waiting", key.model());
                return;
            }
            waiting.put(key, new Waiting<>(value));
            if (waiting.size() == 1 && !replaces) {
                begin(key);
            }
        }
    }

    /** Starts to write the first value; drops it if no thread can be started. */
    private void begin(StoreKey key) {
        try {
            writeBeforeExit();
            thread.execute(this::writeAll);
        } catch (OutOfMemoryError e) {
            waiting.remove(key);
            exitFreely();
            logger.debug("A value of {} is not stored: no thread can be started", key.model(), e);
        }
    }

    private void writeAll() {
        Optional<Map.Entry<StoreKey, Waiting<T>>> next = first();
        while (next.isPresent()) {
            StoreKey key = next.get().getKey();
            Waiting<T> value = next.get().getValue();
            try {
                inner.save(key, value.value);
            } catch (RuntimeException | Error e) {
                logger.warn("The value of {} cannot be stored", key.model(), e);
            }
            next = after(key, value);
        }
    }

    private Optional<Map.Entry<StoreKey, Waiting<T>>> first() {
        synchronized (waiting) {
            return waiting.entrySet().stream()
                    .findFirst()
                    .map(entry -> Map.entry(entry.getKey(), entry.getValue()));
        }
    }

    /**
     * Returns the value to write next, and removes the written one unless it was replaced
     * meanwhile.
     */
    private Optional<Map.Entry<StoreKey, Waiting<T>>> after(StoreKey key, Waiting<T> written) {
        synchronized (waiting) {
            waiting.remove(key, written);
            if (waiting.isEmpty()) {
                exitFreely();
                waiting.notifyAll();
            }
            return first();
        }
    }

    /** The writing thread is a daemon, so the JVM would not wait for it. */
    private void writeBeforeExit() {
        atExit = Optional.of(ExitHook.add(this::flush, "djl-plan-store-exit"));
    }

    private void exitFreely() {
        if (atExit.isPresent()) {
            atExit.get().close();
        }
        atExit = Optional.empty();
    }

    @Override
    public void flush() {
        long deadlineNanos = System.nanoTime() + LONGEST_FLUSH.toNanos();
        synchronized (waiting) {
            try {
                while (!waiting.isEmpty()) {
                    long leftMillis =
                            TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime());
                    if (leftMillis <= 0) {
                        logger.debug("{} values are still being written", waiting.size());
                        return;
                    }
                    waiting.wait(leftMillis);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
