package org.djlplan.memplan.internal.runtime;

import com.sun.jna.Memory;
import java.lang.StackWalker.StackFrame;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleProxies;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.lang.runtime.ObjectMethods;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.djlplan.memplan.internal.thread.Later;
import org.djlplan.thirdparty.guava.base.Throwables;
import org.djlplan.thirdparty.guava.util.concurrent.Uninterruptibles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes references from other code to djl-plan's class loader, so that it can be
 * garbage-collected.
 */
final class Traces {

    private static final Logger logger = LoggerFactory.getLogger(Traces.class);
    private static final long ANY_BYTES = 8;

    /** Whether djl-plan's own class loader lives as long as the JVM. */
    private static final boolean IS_PERMANENT =
            Traces.class.getClassLoader() == ClassLoader.getSystemClassLoader();

    /**
     * Its class is loaded with this one, because an application may have closed its class loader
     * before the handler is used.
     */
    private static final InvocationHandler NOTHING = (proxy, method, arguments) -> null;

    /** A pool that has no threads, or is always busy, must not stop us. */
    private static final long PATIENCE_MILLIS = 1000;

    private Traces() {}

    /**
     * Makes JNA start its thread that frees memory from a stack without an application's code. A
     * thread retains the class loaders of the code that started it. If applications share JNA, the
     * class loader of the first one would otherwise never be collected. Does nothing if all callers
     * are on the JVM's class path, whose class loader is never collected.
     *
     * @throws LinkageError if JNA cannot be used
     */
    static void startJna() {
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        try {
            if (areCallersPermanent()) {
                return;
            }
            MethodHandle allocation =
                    MethodHandles.publicLookup()
                            .findConstructor(
                                    Memory.class, MethodType.methodType(void.class, long.class));
            // A proxy made by the JDK, because a lambda would be our code.
            Thread.currentThread().setContextClassLoader(ClassLoader.getSystemClassLoader());
            Runnable start =
                    MethodHandleProxies.asInterfaceInstance(
                            Runnable.class,
                            MethodHandles.insertArguments(allocation, 0, ANY_BYTES)
                                    .asType(MethodType.methodType(void.class)));
            // Its threads are the JDK's: they have neither our context nor our class loader.
            CompletableFuture.runAsync(start, ForkJoinPool.commonPool())
                    .get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof LinkageError unusable) {
                throw unusable;
            }
            logger.debug("JNA starts its thread itself", e);
        } catch (ReflectiveOperationException | RuntimeException | TimeoutException e) {
            logger.debug("JNA starts its thread itself", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            Thread.currentThread().setContextClassLoader(context);
        }
    }

    private static boolean areCallersPermanent() {
        ClassLoader system = ClassLoader.getSystemClassLoader();
        if (!IS_PERMANENT || Thread.currentThread().getContextClassLoader() != system) {
            return false;
        }
        List<Class<?>> callers =
                StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE)
                        .walk(
                                frames ->
                                        frames.<Class<?>>map(StackFrame::getDeclaringClass)
                                                .toList());
        for (Class<?> caller : callers) {
            ClassLoader loader = caller.getClassLoader();
            // The JDK's own loaders live as long as the JVM, too.
            if (loader != null
                    && loader != system
                    && loader != ClassLoader.getPlatformClassLoader()) {
                return false;
            }
        }
        return true;
    }

    /**
     * Runs JNA's work in a thread that ends with it. When JNA binds native methods, its structures
     * leave a set of a JNA class behind in a thread-local variable. A container's thread would
     * retain that set permanently, and with it the class loader of an application that brings its
     * own JNA.
     *
     * @throws RuntimeException or an error that the work throws
     */
    static void runInOwnThread(Runnable work) {
        if (IS_PERMANENT) {
            work.run();
            return;
        }
        FutureTask<?> task = new FutureTask<>(work, null);
        if (!Later.start(task)) {
            // JNA leaves its variables in this thread.
            task.run();
        }
        try {
            Object unused = Uninterruptibles.getUninterruptibly(task);
        } catch (ExecutionException e) {
            Throwables.throwIfUnchecked(e.getCause());
            throw new IllegalStateException(e.getCause());
        }
    }

    /**
     * Makes Java forget the last of our records that it linked. Java retains one component's type
     * until another record is linked; since Java 18 it retains one of Java's types and, softly, one
     * of other class loaders. So this links a record of each.
     */
    static void forgetRecords() {
        if (IS_PERMANENT) {
            return;
        }
        try (URLClassLoader empty = new URLClassLoader(new URL[0], null)) {
            Class<?>[] types = {Runnable.class};
            linkRecordOf(Proxy.newProxyInstance(empty, types, NOTHING).getClass());
            linkRecordOf(String.class);
        } catch (Throwable e) {
            logger.debug("Java may keep a record", e);
        }
    }

    private static void linkRecordOf(Class<?> type) throws Throwable {
        MethodHandle component = MethodHandles.identity(type);
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        MethodType equals = MethodType.methodType(boolean.class, type, Object.class);
        MethodType hash = MethodType.methodType(int.class, type);
        Object unused = ObjectMethods.bootstrap(lookup, "equals", equals, type, "value", component);
        unused = ObjectMethods.bootstrap(lookup, "hashCode", hash, type, "value", component);
    }
}
