package org.djlplan.integration.torch.lifecycle;

import java.util.concurrent.Callable;
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
}
