package org.djlplan.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Ends a thread's work in an orderly way on Ctrl-C: interrupts the thread, and delays the JVM's
 * exit for a moment until the thread has closed its resources.
 */
final class Cancellation {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final CountDownLatch done = new CountDownLatch(1);

    private Cancellation() {}

    /** Work that ends with an InterruptedException if it is cancelled. */
    interface Work<T> {
        T run() throws IOException, InterruptedException;
    }

    /**
     * Runs work that Ctrl-C cancels.
     *
     * @param cancelled called if the work was cancelled; the JVM waits for that, too
     * @return the result of the work; empty if it was cancelled
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
            // The JVM is shutting down, so the shutdown hook has interrupted this thread.
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
