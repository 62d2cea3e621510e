package org.djlplan.integration.liveness;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.training.ParameterStore;
import ai.djl.training.initializer.NormalInitializer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.djlplan.memplan.config.Liveness;
import org.djlplan.memplan.djl.liveness.LivenessExecutor;

/** A block with parameters, and inputs for it. */
final class Sample implements AutoCloseable {

    static final String ENGINE = "PyTorch";

    private final Model model;
    private final Block block;
    private final List<Shape> shapes;
    private final ParameterStore store;

    Sample(Block block, Shape... shapes) {
        this.block = block;
        this.shapes = List.of(shapes);
        model = Model.newInstance("sample", Device.cpu(), ENGINE);
        block.setInitializer(new NormalInitializer(0.05f), Parameter.Type.WEIGHT);
        block.initialize(model.getNDManager(), DataType.FLOAT32, shapes);
        model.setBlock(block);
        store = new ParameterStore(model.getNDManager(), false);
    }

    Block block() {
        return block;
    }

    ParameterStore store() {
        return store;
    }

    NDManager newManager() {
        return model.getNDManager().newSubManager();
    }

    /** Returns inputs that depend on the seed alone; of another batch size than declared. */
    NDList inputs(NDManager manager, long batch, long seed) {
        Random random = new Random(seed);
        NDList inputs = new NDList();
        for (Shape shape : shapes) {
            long[] dimensions = shape.getShape().clone();
            dimensions[0] = batch;
            Shape actual = new Shape(dimensions);
            float[] values = new float[(int) actual.size()];
            for (int i = 0; i < values.length; i++) {
                values[i] = (float) random.nextGaussian();
            }
            inputs.add(manager.create(values, actual));
        }
        return inputs;
    }

    NDList stock(NDList inputs) {
        return block.forward(store, new NDList(inputs), false);
    }

    LivenessExecutor executor(Liveness mode) {
        return new LivenessExecutor(block, mode);
    }

    NDList planned(LivenessExecutor executor, NDList inputs) {
        return executor.forward(store, inputs, null);
    }

    /** Returns the outputs' bytes. */
    static List<List<Byte>> bits(NDList outputs) {
        List<List<Byte>> bits = new ArrayList<>();
        for (NDArray output : outputs) {
            List<Byte> bytes = new ArrayList<>();
            for (byte value : output.toByteArray()) {
                bytes.add(value);
            }
            bits.add(bytes);
        }
        return bits;
    }

    @Override
    public void close() {
        model.close();
    }
}
