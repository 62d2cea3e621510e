package org.djlplan.memplan.internal.runtime.torch;

import com.sun.jna.Pointer;
import org.djlplan.memplan.internal.runtime.NativeLoader;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;

/**
 * The functions of {@code torch*.c} and {@code plan.c}, and those of {@code run.c} and {@code
 * escapes.c}, which ONNX Runtime's runs use, too; {@code djlplan.h} is their documentation.
 */
final class TorchNative {

    private TorchNative() {}

    /** Binds the native methods until the result is closed. */
    static NativeLoader.Use use() throws UnsupportedPlatformException {
        return NativeLoader.use(TorchNative.class);
    }

    static native int djlplan_torch_attach(byte[] message, long messageBytes);

    static native long djlplan_torch_settings();

    static native int djlplan_torch_threads(int apply);

    static native void djlplan_torch_set_settings(long wanted);

    static native Pointer djlplan_plan_create(
            long[] bytes, long[] offsets, int count, long arenaBytes);

    static native void djlplan_plan_delete(Pointer plan);

    static native Pointer djlplan_escapes_create(Pointer arena);

    static native void djlplan_escapes_delete(Pointer escapes);

    static native Pointer djlplan_torch_begin(
            Pointer plan, Pointer arena, Pointer escapes, int logged);

    static native int djlplan_torch_pause();

    static native void djlplan_torch_pass_begin();

    static native void djlplan_torch_pass_end();

    static native int djlplan_torch_passes();

    static native int djlplan_torch_guard_exit();

    static native long djlplan_run_paused_at(Pointer run);

    static native void djlplan_run_limit(Pointer run, long bytes);

    static native long djlplan_run_needed(Pointer run);

    static native long djlplan_run_events(Pointer run, long[] out, long capacity);

    static native void djlplan_run_finish(Pointer run, long[] counters);

    static native int djlplan_torch_names_begin(byte[] message, long messageBytes);

    static native void djlplan_torch_names_end();

    static native long djlplan_torch_names(byte[] out, long capacity);

    static native Pointer djlplan_weights_create(String folder, long bytes, int[] problem);

    static native void djlplan_weights_close(Pointer weights);

    static native int djlplan_weights_load(Pointer weights);

    static native int djlplan_weights_loaded(Pointer weights);

    static native int djlplan_weights_uncache(Pointer weights);

    static native long djlplan_weights_bytes(Pointer weights);

    static native long djlplan_weights_blocks(Pointer weights, long[] out, long capacity);

    static native Pointer djlplan_schedule_create(
            long[] bytes, int[] needs, int steps, int[] actions, int count);

    static native void djlplan_schedule_delete(Pointer schedule);

    static native int djlplan_weights_begin(Pointer weights, Pointer schedule, int logged);

    static native void djlplan_weights_end(Pointer weights, long[] figures);

    static native long djlplan_weights_steps(Pointer weights, long[] out, long capacity);

    static native long djlplan_weights_touches(Pointer weights, int[] out, long capacity);
}
