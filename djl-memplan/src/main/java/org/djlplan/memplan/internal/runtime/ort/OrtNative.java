package org.djlplan.memplan.internal.runtime.ort;

import com.sun.jna.Pointer;
import org.djlplan.memplan.internal.runtime.NativeLoader;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;

/**
 * The functions of {@code ort.c}, and those of {@code run.c} and {@code escapes.c}, which PyTorch's
 * runs use, too; {@code djlplan.h} is their documentation.
 */
final class OrtNative {

    /** Which of the figures that {@link #djlplan_ort_figures} writes counts allocations. */
    static final int ALLOCATIONS = 2;

    static final int FIGURES = 3;

    private OrtNative() {}

    /** Binds the native methods until the result is closed. */
    static NativeLoader.Use use() throws UnsupportedPlatformException {
        return NativeLoader.use(OrtNative.class);
    }

    static native int djlplan_ort_attach(
            Pointer api, Pointer environment, byte[] message, long messageBytes);

    static native void djlplan_ort_detach();

    static native Pointer djlplan_ort_begin(
            Pointer arena, Pointer escapes, int recorded, long limitBytes);

    static native long djlplan_ort_refused();

    static native void djlplan_ort_pause();

    static native void djlplan_ort_load_begin();

    static native long djlplan_ort_load_end();

    static native void djlplan_ort_figures(long[] out);

    static native Pointer djlplan_escapes_create(Pointer arena);

    static native void djlplan_escapes_delete(Pointer escapes);

    static native long djlplan_run_events(Pointer run, long[] out, long capacity);

    static native void djlplan_run_finish(Pointer run, long[] counters);
}
