package org.djlplan.integration.torch.lifecycle;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;

/** Threads that predict. */
final class Callers {

    private Callers() {}

    /** Returns whether a thread is a worker, on which djl-plan runs other threads' passes. */
    static boolean isWorker(Thread thread) {
        return thread.getName().startsWith("djl-plan-worker-");
    }

    /** Runs a task on a new thread, and waits until the thread has ended. */
    static <T> T onThread(Callable<T> task) throws Exception {
        FutureTask<T> future = new FutureTask<>(task);
        Thread thread = new Thread(future, "caller");
        thread.start();
        thread.join();
        return future.get();
    }

    /** Runs a task on each of some threads, which begin at the same time. */
    static <T> List<T> onThreads(int threads, Callable<T> task) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        CyclicBarrier start = new CyclicBarrier(threads);
        try {
            List<Future<T>> running = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                running.add(
                        pool.submit(
                                () -> {
                                    start.await();
                                    return task.call();
                                }));
            }
            List<T> results = new ArrayList<>();
            for (Future<T> each : running) {
                results.add(each.get());
            }
            return results;
        } finally {
            pool.shutdown();
        }
    }
}
