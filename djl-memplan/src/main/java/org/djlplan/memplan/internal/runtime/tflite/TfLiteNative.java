package org.djlplan.memplan.internal.runtime.tflite;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.memplan.internal.runtime.NativeLoader;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;

/**
 * The functions of {@code tflite_*.c} and {@code xnnpack_*.c}; {@code djlplan.h} is their
 * documentation.
 */
final class TfLiteNative {

    static final int OK = 0;
    static final int MISMATCH = 2;
    static final int UNSOUND = 3;

    private static final int MESSAGE_BYTES = 256;

    private TfLiteNative() {}

    /** Binds the native methods, until the result is closed, and finds the engine's library. */
    static NativeLoader.Use use() throws UnplannableException {
        NativeLoader.Use use;
        try {
            use = NativeLoader.use(TfLiteNative.class);
        } catch (UnsupportedPlatformException e) {
            throw new UnplannableException(e.getMessage());
        }
        byte[] message = new byte[MESSAGE_BYTES];
        if (djlplan_tflite_attach(message, message.length) != OK) {
            use.close();
            throw new UnplannableException(Native.toString(message));
        }
        djlplan_tflite_memory(new Machine().memoryRoom().limitBytes());
        // The engine's own interpreters use XNNPACK, too, even without a delegate.
        SharedWorkspaces.prepare();
        return use;
    }

    static native int djlplan_tflite_attach(byte[] message, long messageBytes);

    static native int djlplan_tflite_tells_in_place();

    static native void djlplan_tflite_memory(long bytes);

    static native Pointer djlplan_tflite_model_create(Pointer bytes, long length);

    static native void djlplan_tflite_model_delete(Pointer model);

    static native Pointer djlplan_tflite_session_new();

    static native int djlplan_tflite_session_plan(Pointer session, int[] ids, int count);

    static native int djlplan_tflite_session_delegate(
            Pointer session, Pointer delegate, int[] operators, int count);

    static native int djlplan_tflite_session_constants(
            Pointer session, int[] ids, Pointer data, int count);

    static native void djlplan_tflite_session_shapes(Pointer session, Pointer allocated);

    static native void djlplan_tflite_session_preview(Pointer session, Pointer delegate);

    static native void djlplan_tflite_session_time(Pointer session);

    static native int djlplan_tflite_session_build(Pointer session, Pointer model, int threads);

    static native void djlplan_tflite_session_delete(Pointer session);

    static native String djlplan_tflite_error(Pointer session);

    static native int djlplan_tflite_resize(Pointer session, int input, int[] shape, int rank);

    static native int djlplan_tflite_fill(Pointer session, int input, byte[] content, long bytes);

    static native int djlplan_tflite_allocate(Pointer session);

    static native long djlplan_tflite_nodes(Pointer session, int[] out, long capacity);

    static native long djlplan_tflite_partitions(Pointer session, int[] out, long capacity);

    static native long djlplan_tflite_tensors(Pointer session, int[] out, long capacity);

    static native long djlplan_tflite_sizes(Pointer session, long[] out, long capacity);

    static native long djlplan_tflite_times(Pointer session, long[] out, long capacity);

    static native int djlplan_tflite_place(
            Pointer session, int[] ids, long[] offsets, int count, long arenaBytes);

    static native int djlplan_tflite_fit(Pointer session, long[] places);

    static native int djlplan_tflite_invoke(Pointer session, Pointer arena, long arenaBytes);

    static native void djlplan_tflite_session_stream(Pointer session);

    static native long djlplan_tflite_derived(Pointer session, int[] out, long capacity);

    static native int djlplan_tflite_bind(
            Pointer session, Pointer stream, Pointer bindings, int count, byte[] elided);

    static native int djlplan_tflite_invoke_streamed(Pointer session);

    static native int djlplan_tflite_invoke_capturing(Pointer session, String path, long[] offsets);

    static native int djlplan_tflite_input(Pointer session, int index);

    static native int djlplan_tflite_output(Pointer session, int index);

    static native Pointer djlplan_delegate_create(
            String library,
            int threads,
            int isTransient,
            Pointer packed,
            byte[] message,
            long messageBytes);

    static native Pointer djlplan_delegate_handle(Pointer delegate);

    static native void djlplan_delegate_delete(Pointer delegate);

    static native Pointer djlplan_packed_create(long bytes);

    static native int djlplan_packed_finish(Pointer packed, long[] bytes);

    static native void djlplan_packed_delete(Pointer packed);

    static native int djlplan_workspaces_attach();

    static native long djlplan_workspace_bytes(Pointer delegate);

    static native int djlplan_workspace_move(Pointer delegate, int pages);

    static native int djlplan_workspace_moved(Pointer delegate);
}
