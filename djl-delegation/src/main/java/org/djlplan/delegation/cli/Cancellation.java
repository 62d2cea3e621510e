package org.djlplan.delegation.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Orderly end of a thread's work on Ctrl-C: it is interrupted, and the JVM waits a moment until it
 * has closed what it has opened.
 */
final class Cancellation {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final CountDownLatch done = new CountDownLatch(1);

    private Cancellation() {}

    /** Something that ends with an InterruptedException when it is cancelled. */
    interface Work<T> {
        T run() throws IOException, InterruptedException;
    }

    /**
     * Does something that Ctrl-C cancels.
     *
     * @param cancelled called if it was; the JVM waits for that, too
     * @return its result; empty if it was cancelled
     */
    static <T> Optional<T> cancellable(Work<T> work, Runnable cancelled) throws IOException {
        Cancellation cancellation = new Cancellation();
        Thread worker = Thread.currentThread();
        Thread hook = new Thread(() -> cancellation.cancel(worker), "cancellation");
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            return Optional.of(work.run());
        } catch (InterruptedException e) {
            cancelled.run();
            return Optional.empty();
        } finally {
            cancellation.done.countDown();
            remove(hook);
        }
    }

    private static void remove(Thread hook) {
        try {
            boolean unused = Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The JVM is ending: the hook is what has interrupted us.
        }
    }

    private void cancel(Thread worker) {
        worker.interrupt();
        try {
            boolean unused = done.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
