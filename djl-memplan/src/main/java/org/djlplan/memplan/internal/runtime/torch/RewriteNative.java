package org.djlplan.memplan.internal.runtime.torch;

import org.djlplan.memplan.internal.runtime.NativeLoader;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;

/** The functions of {@code torch_rewrite.cpp}; {@code torch_rewrite.h} is their documentation. */
final class RewriteNative {

    private RewriteNative() {}

    /** Binds the native methods until the result is closed. */
    static NativeLoader.Use use() throws UnsupportedPlatformException {
        return NativeLoader.useRewriter(RewriteNative.class);
    }

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
