package org.djlplan.integration.support;

import ai.djl.engine.Engine;
import com.sun.jna.Function;
import com.sun.jna.Library;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.djlplan.memplan.internal.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;

/**
 * The reference for outputs: the TensorFlow Lite library's own interpreter, called through its C
 * interface, without a delegate. The library comes from DJL's engine if DJL has one, otherwise from
 * bytedeco.
 */
public final class StockInterpreter implements AutoCloseable {

    private static final String ENGINE = "TFLite";
    private static final int RTLD_LAZY = 1;
    private static final int FLOAT32 = 1;

    private final Pointer model;
    private final Pointer interpreter;

    /** Loads the engine's library into this JVM. */
    public static void loadEngine() {
        if (Engine.getAllEngines().contains(ENGINE)) {
            Engine.getEngine(ENGINE).newBaseManager().close();
            return;
        }
        try {
            CurrentTfLite.load();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * The library's functions. {@link #loadEngine} does not use them, because JNA may be missing.
     */
    private static final class Functions {

        private static final NativeLibrary LIBRARY = library();

        private static NativeLibrary library() {
            loadEngine();
            try {
                return NativeLibrary.getInstance(
                        EngineLibrary.loaded().file().toString(),
                        Map.of(Library.OPTION_OPEN_FLAGS, RTLD_LAZY));
            } catch (UnplannableException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Opens a model with a number of threads, −1 for the engine's default. */
    public StockInterpreter(Path file, int threads) {
        model = pointer("ModelCreateFromFile", file.toString());
        Pointer options = pointer("InterpreterOptionsCreate");
        call("InterpreterOptionsSetNumThreads", options, threads);
        interpreter = pointer("InterpreterCreate", model, options);
        call("InterpreterOptionsDelete", options);
        allocate();
    }

    private static Function function(String name) {
        return Functions.LIBRARY.getFunction("TfLite" + name);
    }

    private static Pointer pointer(String name, Object... arguments) {
        Pointer result = function(name).invokePointer(arguments);
        if (result == null) {
            throw new IllegalStateException("TfLite" + name + " failed");
        }
        return result;
    }

    private static int call(String name, Object... arguments) {
        return function(name).invokeInt(arguments);
    }

    private static void check(String name, Object... arguments) {
        if (call(name, arguments) != 0) {
            throw new IllegalStateException("TfLite" + name + " failed");
        }
    }

    private void allocate() {
        check("InterpreterAllocateTensors", interpreter);
    }

    /** Gives input 0 another shape. */
    public void resize(int... shape) {
        check("InterpreterResizeInputTensor", interpreter, 0, shape, shape.length);
        allocate();
    }

    /** Returns the shapes of the inputs. */
    public List<List<Integer>> shapes() {
        List<List<Integer>> shapes = new ArrayList<>();
        for (Pointer tensor : tensors("Input")) {
            List<Integer> shape = new ArrayList<>();
            for (int i = 0; i < call("TensorNumDims", tensor); i++) {
                shape.add(call("TensorDim", tensor, i));
            }
            shapes.add(shape);
        }
        return shapes;
    }

    /**
     * Returns random inputs of the right sizes: floats in [0, 1), and random bytes for other types.
     */
    public List<ByteBuffer> randomInputs(long seed) {
        Random random = new Random(seed);
        List<ByteBuffer> inputs = new ArrayList<>();
        for (Pointer tensor : tensors("Input")) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(bytes(tensor));
            buffer.order(ByteOrder.nativeOrder());
            if (call("TensorType", tensor) == FLOAT32) {
                while (buffer.hasRemaining()) {
                    buffer.putFloat(random.nextFloat());
                }
            } else {
                byte[] bytes = new byte[buffer.capacity()];
                random.nextBytes(bytes);
                buffer.put(bytes);
            }
            inputs.add(buffer.rewind());
        }
        return inputs;
    }

    /** Returns the outputs, in buffers of their own. */
    public List<ByteBuffer> run(List<ByteBuffer> inputs) {
        List<Pointer> tensors = tensors("Input");
        for (int i = 0; i < tensors.size(); i++) {
            data(tensors.get(i)).put(inputs.get(i).duplicate());
        }
        check("InterpreterInvoke", interpreter);
        List<ByteBuffer> results = new ArrayList<>();
        for (Pointer tensor : tensors("Output")) {
            ByteBuffer result = ByteBuffer.allocateDirect(bytes(tensor));
            results.add(result.order(ByteOrder.nativeOrder()).put(data(tensor)).rewind());
        }
        return results;
    }

    private List<Pointer> tensors(String kind) {
        List<Pointer> tensors = new ArrayList<>();
        int count = call("InterpreterGet" + kind + "TensorCount", interpreter);
        for (int i = 0; i < count; i++) {
            tensors.add(pointer("InterpreterGet" + kind + "Tensor", interpreter, i));
        }
        return tensors;
    }

    private static int bytes(Pointer tensor) {
        return (int) function("TensorByteSize").invokeLong(new Object[] {tensor});
    }

    private static ByteBuffer data(Pointer tensor) {
        return pointer("TensorData", tensor).getByteBuffer(0, bytes(tensor));
    }

    @Override
    public void close() {
        function("InterpreterDelete").invokeVoid(new Object[] {interpreter});
        function("ModelDelete").invokeVoid(new Object[] {model});
    }
}
