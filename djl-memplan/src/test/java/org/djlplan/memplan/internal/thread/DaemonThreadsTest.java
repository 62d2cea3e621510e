package org.djlplan.memplan.internal.thread;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.util.concurrent.CountDownLatch;
import org.djlplan.memplan.testing.Await;
import org.djlplan.thirdparty.guava.util.concurrent.Uninterruptibles;
import org.junit.jupiter.api.Test;

class DaemonThreadsTest {

    /** Waits until the test ends the thread. */
    public static final class Waiting implements Runnable {

        static final CountDownLatch END = new CountDownLatch(1);

        @Override
        public void run() {
            Uninterruptibles.awaitUninterruptibly(END);
        }
    }

    /** Starts a thread in its constructor. */
    public static final class Starter {

        public Starter() {
            DaemonThreads.make(new Waiting(), "waiting").start();
        }
    }

    /** Loads a second copy of one class. */
    private static final class OneClass extends ClassLoader {

        Class<?> starter() throws Exception {
            String name = Starter.class.getName();
            try (InputStream in =
                    Starter.class.getResourceAsStream("DaemonThreadsTest$Starter.class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            }
        }
    }

    /** This is a separate method so that none of its objects stays on the stack. */
    private static WeakReference<ClassLoader> start() throws Exception {
        Thread caller = Thread.currentThread();
        ClassLoader before = caller.getContextClassLoader();
        OneClass loader = new OneClass();
        caller.setContextClassLoader(loader);
        try {
            Object unused = loader.starter().getConstructor().newInstance();
        } finally {
            caller.setContextClassLoader(before);
        }
        return new WeakReference<>(loader);
    }

    @Test
    void make_byCodeOfAClassLoader_doesNotKeepIt() throws Exception {
        WeakReference<ClassLoader> loader = start();

        Await.until(
                () -> {
                    System.gc();
                    return loader.get() == null;
                });
        Waiting.END.countDown();
    }

    @Test
    void make_anyCaller_isADaemonOfOurs() {
        InheritableThreadLocal<String> inherited = new InheritableThreadLocal<>();
        inherited.set("value");
        String[] seen = {"nothing"};

        Thread thread = DaemonThreads.make(() -> seen[0] = inherited.get(), "name");
        thread.start();
        Uninterruptibles.joinUninterruptibly(thread);

        assertNull(seen[0]);
        assertTrue(thread.isDaemon());
        assertEquals("name", thread.getName());
        assertSame(DaemonThreads.class.getClassLoader(), thread.getContextClassLoader());
    }
}
