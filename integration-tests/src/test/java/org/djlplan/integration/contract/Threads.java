package org.djlplan.integration.contract;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** Runs a task on several threads at once. */
public final class Threads {

    private static final long PATIENCE_SECONDS = 900;

    private Threads() {}

    /** The work of one thread. */
    @FunctionalInterface
    public interface Work<T> {
        T run(int thread) throws Exception;
    }

    /** Runs work on threads that begin together, and returns the results in their order. */
    public static <T> List<T> all(int threads, Work<T> work) throws Exception {
        CyclicBarrier start = new CyclicBarrier(threads);
        return all(
                Executors.newFixedThreadPool(threads),
                threads,
                thread -> {
                    start.await();
                    return work.run(thread);
                });
    }

    /** Runs work in a pool, which ends afterwards, and returns the results in their order. */
    public static <T> List<T> all(ExecutorService pool, int tasks, Work<T> work) throws Exception {
        try {
            List<Future<T>> running = new ArrayList<>();
            for (int i = 0; i < tasks; i++) {
                int task = i;
                running.add(pool.submit((Callable<T>) () -> work.run(task)));
            }
            List<T> results = new ArrayList<>();
            for (Future<T> each : running) {
                results.add(each.get(PATIENCE_SECONDS, TimeUnit.SECONDS));
            }
            return results;
        } finally {
            pool.shutdownNow();
        }
    }

    /** Repeats work on some threads while an action runs, and returns how often each did it. */
    public static List<Integer> during(Callable<?> action, int threads, Work<?> repeated)
            throws Exception {
        AtomicBoolean ended = new AtomicBoolean();
        return all(
                        threads + 1,
                        thread -> {
                            int count = 0;
                            if (thread == threads) {
                                try {
                                    Object unused = action.call();
                                } finally {
                                    ended.set(true);
                                }
                            }
                            while (thread < threads && !ended.get()) {
                                Object unused = repeated.run(thread);
                                count++;
                            }
                            return count;
                        })
                .subList(0, threads);
    }
}
