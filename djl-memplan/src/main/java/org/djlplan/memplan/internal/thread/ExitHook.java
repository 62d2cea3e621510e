package org.djlplan.memplan.internal.thread;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A shutdown hook of the JVM that can be removed. Until it is removed, it retains the class loader
 * of its code.
 */
public final class ExitHook implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(ExitHook.class);

    private final Thread thread;

    private ExitHook(Thread thread) {
        this.thread = thread;
    }

    /** Registers work for the JVM's shutdown, unless the JVM is already shutting down. */
    public static ExitHook add(Runnable work) {
        ExitHook hook = new ExitHook(DaemonThreads.make(work, "djl-plan-exit"));
        try {
            Runtime.getRuntime().addShutdownHook(hook.thread);
        } catch (IllegalStateException e) {
            logger.debug("The JVM is ending", e);
        }
        return hook;
    }

    /** Removes the hook. If the JVM is already shutting down, the hook still runs. Idempotent. */
    @Override
    public void close() {
        try {
            boolean unused = Runtime.getRuntime().removeShutdownHook(thread);
        } catch (IllegalStateException e) {
            logger.debug("The JVM is ending", e);
        }
    }
}
