package org.djlplan.memplan.runtime.tflite;

import static com.google.common.base.Preconditions.checkState;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.Ints;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.util.ArrayList;
import java.util.List;
import org.djlplan.memplan.runtime.Arena;

/** One interpreter of the engine, reached through the native library. For one thread at a time. */
final class TfLiteSession implements AutoCloseable {

    private static final int MESSAGE_BYTES = 512;

    private Pointer handle;

    private TfLiteSession(Pointer handle) {
        this.handle = handle;
    }

    /**
     * Builds an interpreter.
     *
     * @param threads number of threads, −1 for the engine's default
     * @param planned tensors whose memory the caller places; empty for a stock interpreter
     * @param temporaries whether the kernels' temporaries are the caller's too
     */
    static TfLiteSession create(
            Pointer model, int threads, List<Integer> planned, boolean temporaries)
            throws UnplannableException {
        byte[] message = new byte[MESSAGE_BYTES];
        Pointer handle =
                TfLiteNative.djlplan_tflite_session_create(
                        model,
                        threads,
                        Ints.toArray(planned),
                        planned.size(),
                        temporaries ? 1 : 0,
                        message,
                        MESSAGE_BYTES);
        if (handle == null) {
            throw new UnplannableException(Native.toString(message));
        }
        return new TfLiteSession(handle);
    }

    private Pointer handle() {
        checkState(handle != null, "the interpreter is closed");
        return handle;
    }

    /** Gives an input another shape; {@link #allocate} must follow. */
    void resize(int input, List<Integer> shape) {
        check(
                TfLiteNative.djlplan_tflite_resize(
                        handle(), input, Ints.toArray(shape), shape.size()));
    }

    /** Lets the kernels say what memory they need. */
    void allocate() {
        check(TfLiteNative.djlplan_tflite_allocate(handle()));
    }

    /**
     * Takes the plan.
     *
     * @return whether it fits what the engine needs
     */
    boolean place(int[] ids, long[] offsets, long arenaBytes) {
        int status =
                TfLiteNative.djlplan_tflite_place(handle(), ids, offsets, ids.length, arenaBytes);
        return status == TfLiteNative.OK;
    }

    /** Runs once without planned tensors. */
    void invokeStock() {
        check(TfLiteNative.djlplan_tflite_invoke(handle(), null, 0));
    }

    /**
     * Runs once in an arena.
     *
     * @return whether the plan still fitted; if not, nothing ran
     */
    boolean invoke(Arena arena) {
        int status = TfLiteNative.djlplan_tflite_invoke(handle(), arena.address(), arena.bytes());
        if (status == TfLiteNative.MISMATCH) {
            return false;
        }
        check(status);
        return true;
    }

    /** Returns the engine's last words. */
    String error() {
        return TfLiteNative.djlplan_tflite_error(handle());
    }

    private void check(int status) {
        if (status != TfLiteNative.OK) {
            throw new IllegalStateException("TensorFlow Lite: " + error());
        }
    }

    /** Returns the ids of the inputs. */
    List<Integer> inputs() {
        int count = TfLiteNative.djlplan_tflite_input_count(handle());
        ImmutableList.Builder<Integer> ids = ImmutableList.builder();
        for (int i = 0; i < count; i++) {
            ids.add(TfLiteNative.djlplan_tflite_input(handle(), i));
        }
        return ids.build();
    }

    /** Returns the ids of the outputs. */
    List<Integer> outputs() {
        int count = TfLiteNative.djlplan_tflite_output_count(handle());
        ImmutableList.Builder<Integer> ids = ImmutableList.builder();
        for (int i = 0; i < count; i++) {
            ids.add(TfLiteNative.djlplan_tflite_output(handle(), i));
        }
        return ids.build();
    }

    /** Returns the operators in execution order. */
    List<LiveNode> nodes() {
        int[] numbers =
                new int
                        [Ints.checkedCast(
                                TfLiteNative.djlplan_tflite_nodes(handle(), new int[0], 0))];
        TfLiteNative.djlplan_tflite_nodes(handle(), numbers, numbers.length);
        Cursor cursor = new Cursor(numbers);
        List<LiveNode> nodes = new ArrayList<>();
        while (cursor.hasNext()) {
            nodes.add(new LiveNode(cursor.next(), cursor.list(), cursor.list(), cursor.list()));
        }
        return nodes;
    }

    /** Returns the tensors by id. */
    List<LiveTensor> tensors() {
        int[] numbers =
                new int
                        [Ints.checkedCast(
                                TfLiteNative.djlplan_tflite_tensors(handle(), new int[0], 0))];
        TfLiteNative.djlplan_tflite_tensors(handle(), numbers, numbers.length);
        long[] sizes =
                new long
                        [Ints.checkedCast(
                                TfLiteNative.djlplan_tflite_sizes(handle(), new long[0], 0))];
        TfLiteNative.djlplan_tflite_sizes(handle(), sizes, sizes.length);
        Cursor cursor = new Cursor(numbers);
        List<LiveTensor> tensors = new ArrayList<>();
        while (cursor.hasNext()) {
            int id = tensors.size();
            tensors.add(
                    new LiveTensor(
                            cursor.next(),
                            LiveTensor.Allocation.values()[cursor.next()],
                            cursor.next() == 1,
                            cursor.next() == 1,
                            cursor.list(),
                            sizes[2 * id],
                            sizes[2 * id + 1]));
        }
        return tensors;
    }

    @Override
    public void close() {
        if (handle != null) {
            TfLiteNative.djlplan_tflite_session_delete(handle);
            handle = null;
        }
    }

    /** Reads numbers one after another. */
    private static final class Cursor {
        private final int[] numbers;
        private int position;

        Cursor(int[] numbers) {
            this.numbers = numbers;
        }

        boolean hasNext() {
            return position < numbers.length;
        }

        int next() {
            return numbers[position++];
        }

        List<Integer> list() {
            int size = next();
            List<Integer> list = Ints.asList(numbers).subList(position, position + size);
            position += size;
            return list;
        }
    }
}
