package org.djlplan.memplan.internal.runtime;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Optional;

/**
 * Detects virtual threads, which exist since Java 21. A virtual thread may continue on another
 * native thread in the middle of a prediction, so the native thread does not identify its
 * allocations.
 */
public final class VirtualThreads {

    private static final Optional<MethodHandle> IS_VIRTUAL = find();

    private VirtualThreads() {}

    private static Optional<MethodHandle> find() {
        try {
            return Optional.of(
                    MethodHandles.publicLookup()
                            .findVirtual(
                                    Thread.class,
                                    "isVirtual",
                                    MethodType.methodType(boolean.class)));
        } catch (NoSuchMethodException | IllegalAccessException e) {
            return Optional.empty();
        }
    }

    /** Returns whether this code runs on a virtual thread. */
    public static boolean isCurrent() {
        try {
            return IS_VIRTUAL.isPresent()
                    && (boolean) IS_VIRTUAL.get().invokeExact(Thread.currentThread());
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }
}
