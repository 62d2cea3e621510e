package org.djlplan.memplan.internal.runtime.ort;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.djlplan.memplan.internal.runtime.NativeLoader;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;

/**
 * Our allocator, registered with ONNX Runtime's environment. It serves the sessions that ask for
 * the allocators of their environment, and stays registered.
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
     * A session that was created, and the memory that it holds.
     *
     * @param weightsBytes of its weights, packed ones included
     */
    public record Loaded<T>(T session, long weightsBytes) {}

    /**
     * Registers the allocator and tries it out once.
     *
     * @param api the address of the table of functions that the application uses
     * @param environment the address of the environment
     * @return why it cannot be used; empty when it can, also after an earlier call
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
     * Creates a session on this thread and counts its weights. The allocator must be attached.
     *
     * @throws Exception as {@code creation} throws it
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
