package org.djlplan.integration.tflite.lifecycle;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.djlplan.cli.demo.Activation;
import org.djlplan.cli.demo.LayerOutput;
import org.djlplan.cli.demo.NetworkBuilder;
import org.djlplan.cli.demo.Padding;
import org.djlplan.integration.networks.OddModels;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.thirdparty.guava.hash.Hasher;
import org.djlplan.thirdparty.guava.hash.Hashing;

/**
 * Inputs of a model, and the stock engine's outputs.
 *
 * @param shapes the shape of each input
 * @param inputs a list of inputs for each prediction
 * @param hashes a hash of all stock outputs for each prediction
 */
record SoakCase(List<List<Integer>> shapes, List<List<ByteBuffer>> inputs, List<String> hashes) {

    private static final int QUESTIONS = 16;

    /** A model file, and its cases for a number of threads. */
    record SoakModel(Path file, int threads, List<SoakCase> cases) {}

    /**
     * Writes small models of many kinds, and runs them in the stock engine with one and two
     * threads.
     */
    static List<SoakModel> prepare(Path folder) throws Exception {
        List<SoakModel> models = new ArrayList<>();
        List<TfLiteFile> odd =
                List.of(
                        OddModels.unusedSubgraph(),
                        OddModels.whileLoop(),
                        OddModels.branch(),
                        OddModels.singleOperator(),
                        OddModels.outputReadLater(),
                        OddModels.outputIsInputAndConstant(),
                        OddModels.emptyTensors());
        for (int i = 0; i < odd.size(); i++) {
            Path file = folder.resolve("odd" + i + ".tflite");
            TfLiteWriter.write(odd.get(i), file);
            models.add(new SoakModel(file, 1, List.of(ask(file, 1, Optional.empty()))));
        }
        Path file = folder.resolve("image.tflite");
        TfLiteWriter.write(image(), file);
        for (int threads = 1; threads <= 2; threads++) {
            models.add(
                    new SoakModel(
                            file,
                            threads,
                            List.of(
                                    ask(file, threads, Optional.empty()),
                                    ask(file, threads, Optional.of(new int[] {1, 8, 24, 3})),
                                    ask(file, threads, Optional.of(new int[] {1, 20, 12, 3})))));
        }
        return models;
    }

    /** Returns a network that takes images of any size. */
    private static TfLiteFile image() {
        NetworkBuilder network = new NetworkBuilder("any size", 3);
        LayerOutput x = network.input("image", 1, 16, 16, 3);
        x = network.conv2d(x, 8, 3, 1, Activation.NONE);
        x = network.mul(x, network.logistic(x), Activation.NONE);
        x = network.depthwiseConv2d(x, 3, 1, Activation.RELU6);
        x = network.add(network.conv2d(x, 8, 5, 1, Activation.NONE), x, Activation.RELU);
        x = network.maxPool(x, 2, 2, Padding.SAME);
        return network.output(network.unary("TANH", network.mean(x))).output(x).build();
    }

    private static SoakCase ask(Path file, int threads, Optional<int[]> shape) {
        try (StockInterpreter stock = new StockInterpreter(file, threads)) {
            shape.ifPresent(stock::resize);
            List<List<ByteBuffer>> inputs = new ArrayList<>();
            List<String> hashes = new ArrayList<>();
            for (int seed = 0; seed < QUESTIONS; seed++) {
                inputs.add(stock.randomInputs(seed));
                hashes.add(hash(stock.run(inputs.get(seed))));
            }
            return new SoakCase(stock.shapes(), inputs, hashes);
        }
    }

    /** Returns a hash of all outputs together. */
    static String hash(List<ByteBuffer> outputs) {
        Hasher hasher = Hashing.sha256().newHasher();
        outputs.forEach(output -> hasher.putInt(output.remaining()).putBytes(output.duplicate()));
        return hasher.hash().toString();
    }
}
