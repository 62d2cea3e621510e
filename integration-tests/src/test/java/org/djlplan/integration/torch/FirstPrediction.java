package org.djlplan.integration.torch;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataDesc;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Block;
import ai.djl.nn.convolutional.Conv2d;
import ai.djl.nn.norm.BatchNorm;
import ai.djl.training.ParameterStore;
import ai.djl.translate.TranslateException;
import ai.djl.util.PairList;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32;
import org.djlplan.cli.zoo.Networks;
import org.djlplan.cli.zoo.Networks.Network;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.internal.runtime.ProcessMemory;

/**
 * Predicts with a network of random weights or a TorchScript file, in a separate JVM. Prints the
 * peak memory of each prediction above the loaded model, and a checksum of the outputs.
 */
public final class FirstPrediction {

    private static final int SEED = 42;
    private static final int REHEARSALS = 100;

    private static final String FILE = ".pt";

    /** The network of a user's own block. */
    public static final String COMPOSITE = "composite";

    private FirstPrediction() {}

    /**
     * The printed figures of a prediction.
     *
     * @param shape batch, or batch and side
     * @param peakBytes peak memory above the loaded model
     * @param sum checksum of the outputs
     * @param millis how long it took
     */
    public record Figures(String shape, long peakBytes, String sum, long millis) {

        public static List<Figures> of(String printed) {
            return printed.lines()
                    .map(line -> line.split(" ", -1))
                    .map(
                            columns ->
                                    new Figures(
                                            columns[0],
                                            Long.parseLong(columns[1]),
                                            columns[2],
                                            Long.parseLong(columns[3])))
                    .toList();
        }
    }

    /**
     * A user's block that chains convolutions with skip connections and keeps no arrays. Its
     * children are not in a {@code SequentialBlock}.
     */
    private static final class Composite extends AbstractBlock {

        private static final int UNITS = 24;
        private static final int FILTERS = 32;

        private final Block stem = addChildBlock("stem", convolution());
        private final List<Block> units = new ArrayList<>();

        Composite() {
            for (int i = 0; i < 2 * UNITS; i++) {
                units.add(
                        addChildBlock(
                                "unit" + i,
                                i % 2 == 0 ? convolution() : BatchNorm.builder().build()));
            }
        }

        private static Block convolution() {
            return Conv2d.builder()
                    .setKernelShape(new Shape(3, 3))
                    .optPadding(new Shape(1, 1))
                    .setFilters(FILTERS)
                    .build();
        }

        @Override
        protected NDList forwardInternal(
                ParameterStore store,
                NDList inputs,
                boolean training,
                PairList<String, Object> params) {
            NDArray x = stem.forward(store, inputs, training).head();
            for (int i = 0; i < units.size(); i += 2) {
                NDArray y = units.get(i).forward(store, new NDList(x), training).head();
                y = units.get(i + 1).forward(store, new NDList(y), training).head();
                x = x.add(y.getNDArrayInternal().relu());
            }
            return new NDList(x.mean(new int[] {3}).mean(new int[] {2}));
        }

        @Override
        public Shape[] getOutputShapes(Shape[] inputs) {
            return new Shape[] {new Shape(inputs[0].get(0), FILTERS)};
        }

        @Override
        protected void initializeChildBlocks(
                NDManager manager, DataType dataType, Shape... inputs) {
            stem.initialize(manager, dataType, inputs);
            Shape[] shapes = stem.getOutputShapes(inputs);
            units.forEach(unit -> unit.initialize(manager, dataType, shapes));
        }
    }

    private static Network network(String name) {
        if (name.endsWith(FILE)) {
            return new Network(
                    name,
                    List.of(new DataDesc(new Shape(1, 3, 224, 224), DataType.FLOAT32)),
                    () -> {
                        throw new IllegalStateException("a file");
                    });
        }
        return name.equals(COMPOSITE)
                ? new Network(
                        name,
                        List.of(new DataDesc(new Shape(1, 3, 128, 128), DataType.FLOAT32)),
                        Composite::new)
                : Networks.named(name).orElseThrow();
    }

    private static NDList inputs(NDManager manager, Network network, String shape) {
        String[] sizes = shape.split("x", -1);
        NDList inputs = new NDList();
        for (DataDesc input : network.inputs()) {
            long[] dimensions = input.getShape().getShape().clone();
            dimensions[0] = Long.parseLong(sizes[0]);
            for (int i = 2; i < dimensions.length && sizes.length > 1; i++) {
                dimensions[i] = Long.parseLong(sizes[1]);
            }
            inputs.add(manager.ones(new Shape(dimensions), input.getDataType()));
        }
        return inputs;
    }

    /**
     * Predicts.
     *
     * @param arguments {@code stock} or {@code planned}, the network or a TorchScript file, and for
     *     each prediction the batch, or batch and side as in {@code 8x224}
     */
    public static void main(String[] arguments) throws Exception {
        Torch.threads(1);
        boolean planned = arguments[0].equals("planned");
        List<String> shapes = List.of(arguments).subList(2, arguments.length);
        rehearse(planned);
        try (Model model = model(network(arguments[1]));
                Predictor<NDList, NDList> predictor = predictor(model, planned)) {
            System.gc();
            ProcessMemory.trim();
            ProcessMemory memory = new ProcessMemory();
            long loaded = memory.residentBytes().orElseThrow();
            for (String shape : shapes) {
                try (NDManager call = model.getNDManager().newSubManager()) {
                    NDList inputs = inputs(call, network(arguments[1]), shape);
                    // All begin alike: an arena keeps what the last prediction used for a while.
                    PlanHandle.of(model).ifPresent(PlanHandle::trim);
                    ProcessMemory.trim();
                    memory.resetPeak();
                    long start = System.nanoTime();
                    NDList outputs = predictor.predict(inputs);
                    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
                    long peak = memory.peakBytes().orElseThrow() - loaded;
                    CRC32 sum = new CRC32();
                    outputs.forEach(output -> sum.update(output.toByteBuffer()));
                    System.out.printf("%s %d %x %d%n", shape, peak, sum.getValue(), millis);
                }
            }
        }
    }

    /**
     * Runs another network first, because code that is loaded once per JVM, such as the engine's
     * kernels, does not count for the model.
     */
    private static void rehearse(boolean planned) throws Exception {
        Network small = network("layers");
        try (Model model = model(small);
                Predictor<NDList, NDList> predictor = predictor(model, planned)) {
            for (int i = 0; i < REHEARSALS; i++) {
                try (NDManager call = model.getNDManager().newSubManager()) {
                    NDList unused = predictor.predict(inputs(call, small, "1"));
                }
            }
        }
    }

    private static Model model(Network network) throws Exception {
        if (network.name().endsWith(FILE)) {
            Path file = Path.of(network.name());
            Model model = Model.newInstance(file.getFileName().toString(), "PyTorch");
            model.load(file.getParent(), model.getName());
            return model;
        }
        Engine.getEngine("PyTorch").setRandomSeed(SEED);
        Model model = Model.newInstance(network.name(), Device.cpu(), "PyTorch");
        Block block = network.blocks().get();
        block.initialize(
                model.getNDManager(),
                DataType.FLOAT32,
                network.inputs().stream().map(DataDesc::getShape).toArray(Shape[]::new));
        model.setBlock(block);
        return model;
    }

    private static Predictor<NDList, NDList> predictor(Model model, boolean planned)
            throws TranslateException {
        String liveness = model.getName().equals(COMPOSITE) ? "op" : "auto";
        return model.newPredictor(
                planned
                        ? PlannedTranslatorFactory.wrap(new BareTranslator())
                                .with("delegation.enabled", false)
                                .newInstance(
                                        NDList.class,
                                        NDList.class,
                                        model,
                                        Map.of("memplan.liveness", liveness))
                        : new BareTranslator());
    }
}
