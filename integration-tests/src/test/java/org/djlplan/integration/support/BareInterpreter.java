package org.djlplan.integration.support;

import com.sun.jna.Function;
import com.sun.jna.Library;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.Structure;
import com.sun.jna.Structure.FieldOrder;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.djlplan.memplan.internal.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;

/**
 * Calls the engine's C interface as cheaply as Java can, to measure the cost of a program without
 * DJL. The interpreter is never freed.
 */
public final class BareInterpreter {

    private static final int RTLD_LAZY = 1;
    private static final NativeLibrary LIBRARY = library();

    static {
        Native.register(BareInterpreter.class, LIBRARY);
    }

    private static NativeLibrary library() {
        StockInterpreter.loadEngine();
        try {
            return NativeLibrary.getInstance(
                    EngineLibrary.loaded().file().toString(),
                    Map.of(Library.OPTION_OPEN_FLAGS, RTLD_LAZY));
        } catch (UnplannableException e) {
            throw new IllegalStateException(e);
        }
    }

    /** XNNPACK's options in TensorFlow Lite 2.20. */
    @FieldOrder({"threads", "runtimeFlags", "flags", "others"})
    public static class XnnPackOptions extends Structure {

        /** Threads of the thread pool; 0 for no pool. */
        public int threads;

        public int runtimeFlags;
        public int flags;
        public byte[] others = new byte[44];

        /** The options as C returns them, by value. */
        public static final class ByValue extends XnnPackOptions implements Structure.ByValue {}
    }

    private final Pointer interpreter;
    private final List<Memory> inputs = new ArrayList<>();
    private final List<Memory> outputs = new ArrayList<>();

    private BareInterpreter(Path file, int threads, Pointer delegate, List<int[]> shapes) {
        Pointer options = TfLiteInterpreterOptionsCreate();
        TfLiteInterpreterOptionsSetNumThreads(options, threads);
        if (delegate != null) {
            TfLiteInterpreterOptionsAddDelegate(options, delegate);
        }
        interpreter = TfLiteInterpreterCreate(TfLiteModelCreateFromFile(file.toString()), options);
        for (int i = 0; i < shapes.size(); i++) {
            resize(i, shapes.get(i));
        }
        if (TfLiteInterpreterAllocateTensors(interpreter) != 0) {
            throw new IllegalStateException(file + " has no plan of the engine");
        }
        findTensors();
    }

    /** Gives input 0 another shape. */
    public void resize(int... shape) {
        resize(0, shape);
        if (TfLiteInterpreterAllocateTensors(interpreter) != 0) {
            throw new IllegalStateException("no tensors for another shape");
        }
        findTensors();
    }

    private void resize(int input, int[] shape) {
        if (TfLiteInterpreterResizeInputTensor(interpreter, input, shape, shape.length) != 0) {
            throw new IllegalStateException("input " + input + " takes no other shape");
        }
    }

    private void findTensors() {
        inputs.forEach(Memory::close);
        outputs.forEach(Memory::close);
        inputs.clear();
        outputs.clear();
        for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(interpreter); i++) {
            inputs.add(
                    cleared(TfLiteTensorByteSize(TfLiteInterpreterGetInputTensor(interpreter, i))));
        }
        for (int i = 0; i < TfLiteInterpreterGetOutputTensorCount(interpreter); i++) {
            outputs.add(
                    cleared(
                            TfLiteTensorByteSize(
                                    TfLiteInterpreterGetOutputTensor(interpreter, i))));
        }
    }

    private static Memory cleared(long bytes) {
        Memory memory = new Memory(bytes);
        memory.clear();
        return memory;
    }

    /** Opens a model in the CPU kernels. */
    public static BareInterpreter cpu(Path file, int threads) {
        return new BareInterpreter(file, threads, null, List.of());
    }

    /** Opens a model in the CPU kernels for other shapes than those in its file. */
    public static BareInterpreter resized(Path file, int threads, List<int[]> shapes) {
        return new BareInterpreter(file, threads, null, shapes);
    }

    /** Opens a model with XNNPACK for everything that it takes, with its own default options. */
    public static BareInterpreter xnnpack(Path file, int threads) {
        Function defaults = LIBRARY.getFunction("TfLiteXNNPackDelegateOptionsDefault");
        XnnPackOptions options =
                (XnnPackOptions) defaults.invoke(XnnPackOptions.ByValue.class, new Object[0]);
        options.threads = threads;
        Function create = LIBRARY.getFunction("TfLiteXNNPackDelegateCreate");
        return new BareInterpreter(
                file,
                threads,
                create.invokePointer(new Object[] {byReference(options)}),
                List.of());
    }

    private static Pointer byReference(XnnPackOptions options) {
        options.write();
        return options.getPointer();
    }

    /** Sets the inputs, zeros at first. */
    public void setInputs(List<ByteBuffer> values) {
        for (int i = 0; i < values.size(); i++) {
            inputs.get(i).getByteBuffer(0, inputs.get(i).size()).put(values.get(i).duplicate());
        }
    }

    /** Returns the buffers to which the last run copied the outputs. */
    public List<ByteBuffer> outputs() {
        return outputs.stream().map(output -> output.getByteBuffer(0, output.size())).toList();
    }

    /** Copies the inputs, runs, and copies the outputs. */
    public void run() {
        for (int i = 0; i < inputs.size(); i++) {
            Memory input = inputs.get(i);
            TfLiteTensorCopyFromBuffer(
                    TfLiteInterpreterGetInputTensor(interpreter, i), input, input.size());
        }
        if (TfLiteInterpreterInvoke(interpreter) != 0) {
            throw new IllegalStateException("the engine failed");
        }
        for (int i = 0; i < outputs.size(); i++) {
            Memory output = outputs.get(i);
            TfLiteTensorCopyToBuffer(
                    TfLiteInterpreterGetOutputTensor(interpreter, i), output, output.size());
        }
    }

    static native Pointer TfLiteModelCreateFromFile(String file);

    static native Pointer TfLiteInterpreterOptionsCreate();

    static native void TfLiteInterpreterOptionsSetNumThreads(Pointer options, int threads);

    static native void TfLiteInterpreterOptionsAddDelegate(Pointer options, Pointer delegate);

    static native Pointer TfLiteInterpreterCreate(Pointer model, Pointer options);

    static native int TfLiteInterpreterAllocateTensors(Pointer interpreter);

    static native int TfLiteInterpreterResizeInputTensor(
            Pointer interpreter, int index, int[] shape, int rank);

    static native int TfLiteInterpreterGetInputTensorCount(Pointer interpreter);

    static native Pointer TfLiteInterpreterGetInputTensor(Pointer interpreter, int index);

    static native int TfLiteInterpreterGetOutputTensorCount(Pointer interpreter);

    static native Pointer TfLiteInterpreterGetOutputTensor(Pointer interpreter, int index);

    static native long TfLiteTensorByteSize(Pointer tensor);

    static native int TfLiteTensorCopyFromBuffer(Pointer tensor, Pointer data, long bytes);

    static native int TfLiteTensorCopyToBuffer(Pointer tensor, Pointer data, long bytes);

    static native int TfLiteInterpreterInvoke(Pointer interpreter);
}
