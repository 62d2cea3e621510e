package org.djlplan.memplan.internal.runtime.ort;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.djlplan.memplan.internal.runtime.NativeLoader;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;

/**
 * djl-plan's allocator, which is registered with ONNX Runtime's environment. It serves sessions
 * that ask for their environment's allocators, and stays registered.
 */
public final class OrtAllocator {

    private static final int MESSAGE_BYTES = 512;

    private static boolean probed;

    private OrtAllocator() {}

    /** Creates a session that uses the environment's allocators, and closes it. */
    @FunctionalInterface
    public interface Probe {

        /**
         * Creates a session whose weights are allocated, and closes it.
         *
         * @throws Exception if ONNX Runtime fails
         */
        void run() throws Exception;
    }

    /**
     * A session and the memory of its weights.
     *
     * @param weightsBytes size of its weights, including packed ones
     */
    public record Loaded<T>(T session, long weightsBytes) {}

    /**
     * Registers the allocator and tests it once.
     *
     * @param api the address of the table of functions that the application uses
     * @param environment the address of the environment
     * @return why it cannot be used; empty if it can, also after an earlier call
     */
    public static synchronized Optional<String> attach(long api, long environment, Probe probe) {
        NativeLoader.Use use;
        try {
            use = OrtNative.use();
        } catch (UnsupportedPlatformException e) {
            return Optional.of(e.getMessage());
        }
        try {
            return attached(api, environment, probe);
        } finally {
            use.close();
        }
    }

    private static Optional<String> attached(long api, long environment, Probe probe) {
        byte[] message = new byte[MESSAGE_BYTES];
        int refused =
                OrtNative.djlplan_ort_attach(
                        new Pointer(api), new Pointer(environment), message, message.length);
        if (refused != 0) {
            return Optional.of(Native.toString(message));
        }
        Optional<String> problem = probed ? Optional.empty() : problem(probe);
        probed = problem.isEmpty();
        if (!probed) {
            OrtNative.djlplan_ort_detach();
        }
        return problem;
    }

    private static Optional<String> problem(Probe probe) {
        long before = figures()[OrtNative.ALLOCATIONS];
        try {
            probe.run();
        } catch (Exception e) {
            return Optional.of("ONNX Runtime refuses a session with the allocator: " + e);
        }
        return figures()[OrtNative.ALLOCATIONS] > before
                ? Optional.empty()
                : Optional.of("ONNX Runtime does not use the allocator that is registered");
    }

    private static long[] figures() {
        long[] figures = new long[OrtNative.FIGURES];
        OrtNative.djlplan_ort_figures(figures);
        return figures;
    }

    /**
     * An expected session that uses the allocator, although its creator did not ask for the
     * allocator.
     *
     * @param address the address of the native session
     * @param weightsBytes size of its weights, including packed ones
     */
    public record Arrived(long address, long weightsBytes) {}

    /**
     * Returns the address of a copy of the engine's table of functions, through which {@link
     * #expect} has an effect; empty if there is none. The allocator must be attached. The copy
     * stays valid.
     */
    public static OptionalLong table() {
        try {
            Pointer table = call(OrtNative::djlplan_ort_table);
            return table == null
                    ? OptionalLong.empty()
                    : OptionalLong.of(Pointer.nativeValue(table));
        } catch (UnsupportedPlatformException e) {
            return OptionalLong.empty();
        }
    }

    /**
     * Makes the next session that this thread creates through the copy of the table use the
     * allocator. If that is impossible, the session is created as requested.
     *
     * @throws UnsupportedPlatformException if the native library is not available
     */
    public static void expect() throws UnsupportedPlatformException {
        NativeLoader.Use use = OrtNative.use();
        try {
            OrtNative.djlplan_ort_expect();
        } finally {
            use.close();
        }
    }

    /**
     * Returns the session that this thread has created with the allocator since {@link #expect}.
     * After this call no session is expected any more.
     */
    public static Optional<Arrived> arrived() {
        try {
            long[] weightsBytes = new long[1];
            Pointer session = call(() -> OrtNative.djlplan_ort_arrived(weightsBytes));
            return session == null
                    ? Optional.empty()
                    : Optional.of(new Arrived(Pointer.nativeValue(session), weightsBytes[0]));
        } catch (UnsupportedPlatformException e) {
            return Optional.empty();
        }
    }

    private static Pointer call(Supplier<Pointer> function) throws UnsupportedPlatformException {
        NativeLoader.Use use = OrtNative.use();
        try {
            return function.get();
        } finally {
            use.close();
        }
    }

    /**
     * Creates a session on this thread and counts its weights. The allocator must be attached.
     *
     * @throws Exception the exception of {@code creation}
     */
    public static <T> Loaded<T> load(Callable<T> creation) throws Exception {
        NativeLoader.Use use = OrtNative.use();
        OrtNative.djlplan_ort_load_begin();
        T session;
        long bytes;
        try {
            session = creation.call();
        } finally {
            bytes = OrtNative.djlplan_ort_load_end();
            use.close();
        }
        return new Loaded<>(session, bytes);
    }
}
