package org.djlplan.cli;

import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.djlplan.cli.demo.Activation;
import org.djlplan.cli.demo.LayerOutput;
import org.djlplan.cli.demo.NetworkBuilder;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.io.Resources;

/**
 * Loads and runs a model of a few operators before the measured model, in the same mode, stock or
 * planned. One-time work of the JVM – loading and compiling the classes of DJL, of the engine and
 * of this project – then counts for the idle process, not for the model.
 */
final class Rehearsal {

    /** Two convolutions, from {@code torchscript_files.py}. */
    private static final String TORCH_SCRIPT = "rehearsal.pt";

    private static final String ONNX = "rehearsal.onnx";

    /**
     * A network with the usual kinds of layers, whose kernels the engine reads from disk at first
     * use.
     */
    private static final String LAYERS = ModelRef.ZOO + "layers";

    private static final Shape SMALL_IMAGES = new Shape(1, 3, 64, 64);
    private static final Shape IMAGES = new Shape(1, 3, 8, 8);
    private static final Shape CHANNELS_LAST = new Shape(1, 8, 8, 3);
    private static final Optional<DataType> FLOATS = Optional.of(DataType.FLOAT32);

    /** Number of predictions after which the JVM has compiled the code of every prediction. */
    private static final int PREDICTIONS = 5000;

    private static final long LONGEST_NANOS = 500_000_000;

    private Rehearsal() {}

    /** Runs a small model of the same kind with the options of the measured model. */
    static void run(RunOptions options, RunMode mode) throws IOException {
        try (ScratchFolder scratch = ScratchFolder.create("djlplan-rehearsal")) {
            Path folder = scratch.path();
            if (options.engine() == EngineKind.PYTORCH) {
                repeat(options.with(LAYERS, new InputSpec(SMALL_IMAGES, FLOATS)), mode);
                repeat(
                        options.with(copy(TORCH_SCRIPT, folder), new InputSpec(IMAGES, FLOATS)),
                        mode);
            } else if (options.engine() == EngineKind.ONNX_RUNTIME) {
                repeat(options.with(copy(ONNX, folder), new InputSpec(IMAGES, FLOATS)), mode);
            } else {
                Path model = folder.resolve("rehearsal.tflite");
                NetworkBuilder network = new NetworkBuilder("rehearsal", 1);
                LayerOutput x = network.input("input", 1, 8, 8, 3);
                x = network.conv2d(x, 4, 3, 1, Activation.RELU6);
                x = network.conv2d(x, 4, 1, 1, Activation.NONE);
                TfLiteWriter.write(network.output(x).build(), model);
                repeat(options.with(model.toString(), new InputSpec(CHANNELS_LAST, FLOATS)), mode);
            }
        }
    }

    private static String copy(String resource, Path folder) throws IOException {
        Path model = folder.resolve(resource);
        Files.write(model, Resources.toByteArray(Resources.getResource(Rehearsal.class, resource)));
        return model.toString();
    }

    private static void repeat(RunOptions small, RunMode mode) {
        ImmutableList<ModelInput> inputs = ModelInput.allocate(small.inputs());
        try (Runner runner = Runner.load(small, mode, inputs)) {
            long end = System.nanoTime() + LONGEST_NANOS;
            for (int i = 0; i < PREDICTIONS && System.nanoTime() < end; i++) {
                runner.run();
            }
        }
    }
}
