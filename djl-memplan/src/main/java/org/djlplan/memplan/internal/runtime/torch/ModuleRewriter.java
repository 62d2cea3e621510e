package org.djlplan.memplan.internal.runtime.torch;

import com.sun.jna.Native;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.djlplan.memplan.internal.runtime.NativeLoader;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;
import org.djlplan.thirdparty.guava.base.Splitter;

/**
 * Rewrites TorchScript modules with libtorch's own passes. A module is the engine's handle of it, a
 * native address. The methods are thread-safe.
 */
public final class ModuleRewriter implements AutoCloseable {

    private static final int MESSAGE_BYTES = 4096;
    private static final int USUAL_TEXT_BYTES = 1 << 16;

    private final NativeLoader.Use use;

    /** The functions of {@code torch_rewrite.cpp}; {@code torch_rewrite.h} documents them. */
    private static final class Functions {

        static native int djlplan_rewrite_attach(byte[] message, long messageBytes);

        static native long djlplan_rewrite_freeze(long module, byte[] message, long messageBytes);

        static native long djlplan_rewrite_optimize(long module, byte[] message, long messageBytes);

        static native int djlplan_rewrite_replace(
                long module, String pattern, String replacement, byte[] message, long messageBytes);

        static native long djlplan_rewrite_methods(
                long module, byte[] out, long capacity, byte[] message, long messageBytes);

        static native long djlplan_rewrite_graph(
                long module, byte[] out, long capacity, byte[] message, long messageBytes);
    }

    /** Signals that libtorch refuses to rewrite or to read a module. */
    public static final class RefusedException extends Exception {

        private static final long serialVersionUID = 1L;

        private RefusedException(byte[] message) {
            super(firstLine(Native.toString(message)));
        }

        /** Later lines are libtorch's stack trace and a copy of the model's code. */
        private static String firstLine(String message) {
            return message.strip().lines().findFirst().orElse("libtorch gives no reason");
        }
    }

    private ModuleRewriter(NativeLoader.Use use) {
        this.use = use;
    }

    /**
     * Binds the native library, which stays bound until the result is closed. The engine must be
     * loaded.
     *
     * @throws UnsupportedPlatformException if there is no native library, or libtorch lacks one of
     *     the passes
     */
    public static ModuleRewriter open() throws UnsupportedPlatformException {
        NativeLoader.Use use = NativeLoader.useRewriter(Functions.class);
        byte[] message = new byte[MESSAGE_BYTES];
        if (Functions.djlplan_rewrite_attach(message, message.length) != 0) {
            use.close();
            throw new UnsupportedPlatformException(Native.toString(message), null);
        }
        return new ModuleRewriter(use);
    }

    /** Returns a frozen copy: its attributes are constants, and its only method is inlined. */
    public long freeze(long module) throws RefusedException {
        byte[] message = new byte[MESSAGE_BYTES];
        return made(Functions.djlplan_rewrite_freeze(module, message, message.length), message);
    }

    /** Returns a frozen copy that was optimized for inference on this processor. */
    public long optimize(long module) throws RefusedException {
        byte[] message = new byte[MESSAGE_BYTES];
        return made(Functions.djlplan_rewrite_optimize(module, message, message.length), message);
    }

    private static long made(long module, byte[] message) throws RefusedException {
        if (module == 0) {
            throw new RefusedException(message);
        }
        return module;
    }

    /**
     * Replaces a pattern in the graph of a frozen module, which nothing may use now.
     *
     * @param pattern in libtorch's text of graphs, as is the replacement
     */
    public void replace(long module, String pattern, String replacement) throws RefusedException {
        byte[] message = new byte[MESSAGE_BYTES];
        if (Functions.djlplan_rewrite_replace(module, pattern, replacement, message, message.length)
                != 0) {
            throw new RefusedException(message);
        }
    }

    /** Returns the names of a module's methods. */
    public List<String> methods(long module) throws RefusedException {
        return Splitter.on('\n')
                .omitEmptyStrings()
                .splitToList(text(module, Functions::djlplan_rewrite_methods));
    }

    /** Returns the graph of the method {@code forward} in libtorch's text of graphs. */
    public String graph(long module) throws RefusedException {
        return text(module, Functions::djlplan_rewrite_graph);
    }

    private interface Writer {
        long write(long module, byte[] out, long capacity, byte[] message, long messageBytes);
    }

    private static String text(long module, Writer writer) throws RefusedException {
        byte[] out = new byte[USUAL_TEXT_BYTES];
        byte[] message = new byte[MESSAGE_BYTES];
        long bytes = writer.write(module, out, out.length, message, message.length);
        if (bytes > out.length) {
            out = new byte[Math.toIntExact(bytes)];
            bytes = writer.write(module, out, out.length, message, message.length);
        }
        if (bytes < 0) {
            throw new RefusedException(message);
        }
        return new String(out, 0, (int) bytes, StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        use.close();
    }
}
