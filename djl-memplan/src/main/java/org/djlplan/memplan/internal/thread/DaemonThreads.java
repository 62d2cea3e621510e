package org.djlplan.memplan.internal.thread;

import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.concurrent.ThreadFactory;

/**
 * Creates threads that retain no objects of the code that starts them. A normal Java thread
 * inherits the context class loader and, until Java 23, the protection domains of all code on the
 * stack, which reference class loaders. The classes of a job could then not be unloaded as long as
 * the thread lives.
 */
public final class DaemonThreads {

    private DaemonThreads() {}

    /** Returns a thread that has not been started. */
    @SuppressWarnings("removal") // nothing else makes the JDK drop the stack's protection domains
    public static Thread make(Runnable work, String name) {
        PrivilegedAction<Thread> thread =
                () -> {
                    Thread made = new Thread(null, work, name, 0, false);
                    made.setDaemon(true);
                    made.setContextClassLoader(DaemonThreads.class.getClassLoader());
                    return made;
                };
        return AccessController.doPrivileged(thread);
    }

    /** Returns a factory of threads of one name. */
    public static ThreadFactory named(String name) {
        return work -> make(work, name);
    }
}
