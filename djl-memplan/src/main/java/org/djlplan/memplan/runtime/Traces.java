package org.djlplan.memplan.runtime;

import com.sun.jna.Memory;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleProxies;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.runtime.ObjectMethods;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What others would keep of our class loader, so that it could not be collected. */
final class Traces {

    private static final Logger logger = LoggerFactory.getLogger(Traces.class);
    private static final long ANY_BYTES = 8;

    /** A pool of no threads, or one that is always busy, must not stop us. */
    private static final long PATIENCE_MILLIS = 1000;

    private Traces() {}

    /**
     * Has JNA start its thread that frees memory, if it is not there, from a stack on which nothing
     * of an application is. A thread keeps the class loaders of the code that started it, and JNA
     * may be shared by applications, the first of which would never be collected.
     *
     * @throws LinkageError if JNA cannot be used
     */
    static void startJna() {
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        try {
            MethodHandle allocation =
                    MethodHandles.publicLookup()
                            .findConstructor(
                                    Memory.class, MethodType.methodType(void.class, long.class));
            // A proxy of the JDK's own, as a lambda would be code of ours.
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

    /**
     * Has Java 17 forget the record of ours that it linked last: it keeps the type of one component
     * until some other record is linked.
     */
    static void forgetRecords() {
        MethodHandle component = MethodHandles.identity(String.class);
        try {
            Object unused =
                    ObjectMethods.bootstrap(
                            MethodHandles.lookup(),
                            "equals",
                            MethodType.methodType(boolean.class, String.class, Object.class),
                            String.class,
                            "value",
                            component);
            unused =
                    ObjectMethods.bootstrap(
                            MethodHandles.lookup(),
                            "hashCode",
                            MethodType.methodType(int.class, String.class),
                            String.class,
                            "value",
                            component);
        } catch (Throwable e) {
            logger.debug("Java may keep a record", e);
        }
    }
}
