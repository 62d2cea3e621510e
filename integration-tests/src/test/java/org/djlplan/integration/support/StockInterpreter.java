package org.djlplan.integration.support;

import ai.djl.engine.Engine;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.tensorflow.lite.DataType;
import org.tensorflow.lite.Interpreter;
import org.tensorflow.lite.Tensor;

/** The reference: a bare interpreter of the stock engine, without a delegate. */
public final class StockInterpreter implements AutoCloseable {

    private final Interpreter interpreter;

    static {
        loadEngine();
    }

    /** Loads the engine's library into this JVM. */
    public static void loadEngine() {
        Engine.getEngine("TFLite").newBaseManager().close();
    }

    /** Opens a model with a number of threads, −1 for the engine's default. */
    public StockInterpreter(Path file, int threads) {
        Interpreter.Options options = new Interpreter.Options();
        options.setNumThreads(threads);
        interpreter = new Interpreter(file.toFile(), options);
    }

    /** Gives input 0 another shape. */
    public void resize(int... shape) {
        interpreter.resizeInput(0, shape);
        interpreter.allocateTensors();
    }

    /** Returns the shapes of the inputs. */
    public List<List<Integer>> shapes() {
        List<List<Integer>> shapes = new ArrayList<>();
        for (int i = 0; i < interpreter.getInputTensorCount(); i++) {
            shapes.add(Arrays.stream(interpreter.getInputTensor(i).shape()).boxed().toList());
        }
        return shapes;
    }

    /** Returns random inputs of the right sizes: floats in [0, 1), other types random bytes. */
    public List<ByteBuffer> randomInputs(long seed) {
        Random random = new Random(seed);
        List<ByteBuffer> inputs = new ArrayList<>();
        for (int i = 0; i < interpreter.getInputTensorCount(); i++) {
            Tensor tensor = interpreter.getInputTensor(i);
            ByteBuffer buffer = direct(tensor);
            if (tensor.dataType() == DataType.FLOAT32) {
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
        Map<Integer, Object> outputs = new LinkedHashMap<>();
        for (int i = 0; i < interpreter.getOutputTensorCount(); i++) {
            outputs.put(i, direct(interpreter.getOutputTensor(i)));
        }
        interpreter.runForMultipleInputsOutputs(
                inputs.stream().map(b -> b.duplicate().order(ByteOrder.nativeOrder())).toArray(),
                outputs);
        List<ByteBuffer> results = new ArrayList<>();
        outputs.values().forEach(o -> results.add(((ByteBuffer) o).rewind()));
        return results;
    }

    private static ByteBuffer direct(Tensor tensor) {
        return ByteBuffer.allocateDirect(tensor.numBytes()).order(ByteOrder.nativeOrder());
    }

    @Override
    public void close() {
        interpreter.close();
    }
}
