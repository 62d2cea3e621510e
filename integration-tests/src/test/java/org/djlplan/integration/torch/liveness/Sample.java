package org.djlplan.integration.torch.liveness;

import static org.junit.jupiter.api.Assertions.assertEquals;

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
import java.util.Optional;
import java.util.Random;
import org.djlplan.memplan.internal.config.Liveness;
import org.djlplan.memplan.internal.djl.liveness.DjlClasses;
import org.djlplan.memplan.internal.djl.liveness.LivenessExecutor;
import org.djlplan.thirdparty.guava.primitives.Floats;

/** A block with parameters, and inputs for it. */
final class Sample implements AutoCloseable {

    static final String ENGINE = "PyTorch";

    private static final long MOST_TOKENS = 2;

    private final Model model;
    private final Block block;
    private final DataType inputType;
    private final List<Shape> shapes;
    private final ParameterStore store;

    Sample(Block block, Shape... shapes) {
        this(block, DataType.FLOAT32, shapes);
    }

    Sample(Block block, DataType inputType, Shape... shapes) {
        this.inputType = inputType;
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

    /** Returns inputs that depend on the seed alone, with another batch size than declared. */
    NDList inputs(NDManager manager, long batch, long seed) {
        Random random = new Random(seed);
        NDList inputs = new NDList();
        for (Shape shape : shapes) {
            long[] dimensions = shape.getShape().clone();
            dimensions[0] = batch;
            Shape actual = new Shape(dimensions);
            inputs.add(
                    inputType == DataType.INT64
                            ? manager.create(
                                    random.longs(actual.size(), 0, MOST_TOKENS).toArray(), actual)
                            : manager.create(
                                    Floats.toArray(
                                            random.doubles(actual.size(), -2, 2).boxed().toList()),
                                    actual));
        }
        return inputs;
    }

    NDList stock(NDList inputs) {
        return block.forward(store, new NDList(inputs), false);
    }

    /** Returns an executor as a model has it. */
    LivenessExecutor executor(Liveness mode) {
        return new LivenessExecutor(block, mode, DjlClasses.foreignCode(block));
    }

    /**
     * Returns an executor that treats the block as DJL's own, so that only the checks at run time
     * protect it.
     */
    LivenessExecutor trusting(Liveness mode) {
        return new LivenessExecutor(block, mode, Optional.empty());
    }

    NDList planned(LivenessExecutor executor, NDList inputs) {
        return executor.forward(store, inputs, null);
    }

    /** Compares several passes of a block with DJL's, and returns the executor. */
    static LivenessExecutor assertSameBits(Block block, Liveness mode) {
        try (Sample sample = new Sample(block, new Shape(1, 4096))) {
            LivenessExecutor executor = sample.executor(mode);
            sample.assertSameBits(executor);
            return executor;
        }
    }

    void assertSameBits(LivenessExecutor executor) {
        for (int run = 0; run < 4; run++) {
            List<List<Byte>> expected;
            try (NDManager manager = newManager()) {
                expected = bits(stock(inputs(manager, 2, run)));
            }
            try (NDManager manager = newManager()) {
                NDList outputs = planned(executor, inputs(manager, 2, run));
                assertEquals(expected, bits(outputs), "run " + run);
            }
        }
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
