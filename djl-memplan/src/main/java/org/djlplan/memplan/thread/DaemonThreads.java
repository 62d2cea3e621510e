package org.djlplan.memplan.thread;

import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.concurrent.ThreadFactory;

/**
 * Makes threads that keep nothing of who starts them. A thread of Java's inherits the context class
 * loader and, until Java 23, the protection domains of all code on the stack, and by them class
 * loaders: of a job, whose classes could not be unloaded for as long as the thread lives.
 */
public final class DaemonThreads {

    private DaemonThreads() {}

    /** Returns a thread that is not started. */
    @SuppressWarnings("removal") // nothing else makes the JDK forget the stack
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
