package org.djlplan.memplan.internal.runtime.ort;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.util.Optional;
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
     * Begins to count the weights of a session that this thread is about to create.
     *
     * @throws UnsupportedPlatformException if the native library is not available
     */
    public static void beginLoad() throws UnsupportedPlatformException {
        NativeLoader.Use use = OrtNative.use();
        OrtNative.djlplan_ort_load_begin();
        use.close();
    }

    /**
     * Returns the bytes of weights, including packed ones, that this thread has allocated since
     * {@link #beginLoad}.
     *
     * @throws UnsupportedPlatformException if the native library is not available
     */
    public static long endLoad() throws UnsupportedPlatformException {
        NativeLoader.Use use = OrtNative.use();
        long bytes = OrtNative.djlplan_ort_load_end();
        use.close();
        return bytes;
    }
}
