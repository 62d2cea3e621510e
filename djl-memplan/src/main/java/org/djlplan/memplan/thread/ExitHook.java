package org.djlplan.memplan.thread;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A shutdown hook of the JVM that can be removed. Until then it keeps the class loader of its code.
 */
public final class ExitHook implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(ExitHook.class);

    private final Thread thread;

    private ExitHook(Thread thread) {
        this.thread = thread;
    }

    /** Has work done when the JVM ends, unless it is ending already. */
    public static ExitHook add(Runnable work, String name) {
        ExitHook hook = new ExitHook(DaemonThreads.make(work, name));
        try {
            Runtime.getRuntime().addShutdownHook(hook.thread);
        } catch (IllegalStateException e) {
            logger.debug("The JVM is ending", e);
        }
        return hook;
    }

    /** Removes it. It still runs if the JVM is ending already. Idempotent. */
    @Override
    public void close() {
        try {
            boolean unused = Runtime.getRuntime().removeShutdownHook(thread);
        } catch (IllegalStateException e) {
            logger.debug("The JVM is ending", e);
        }
    }
}
