package org.djlplan.integration.contract;

import static org.djlplan.integration.torch.ModelInputs.floats;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.djlplan.cli.demo.Activation;
import org.djlplan.cli.demo.LayerOutput;
import org.djlplan.cli.demo.NetworkBuilder;
import org.djlplan.cli.demo.Padding;
import org.djlplan.integration.networks.OddModels;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;

/** A soak of small TensorFlow Lite models of many kinds. */
public class TfLiteSoakTest extends SoakTests {

    @Override
    protected List<ModelCase> models(Path folder) throws Exception {
        StockInterpreter.loadEngine();
        List<TfLiteFile> odd =
                List.of(
                        OddModels.unusedSubgraph(),
                        OddModels.whileLoop(),
                        OddModels.branch(),
                        OddModels.singleOperator(),
                        OddModels.outputReadLater(),
                        OddModels.outputIsInputAndConstant(),
                        OddModels.emptyTensors());
        List<ModelCase> models = new ArrayList<>();
        for (int i = 0; i < odd.size(); i++) {
            models.add(written(odd.get(i), folder.resolve("odd" + i + ".tflite")));
        }
        models.add(
                written(
                        anySize(),
                        folder.resolve("image.tflite"),
                        floats(new long[] {1, 16, 16, 3}),
                        floats(new long[] {1, 8, 24, 3}),
                        floats(new long[] {1, 20, 12, 3})));
        return models;
    }

    /**
     * @param inputs the shapes of the inputs; those of the file if there are none
     */
    private static ModelCase written(TfLiteFile model, Path file, ModelInputs... inputs)
            throws Exception {
        TfLiteWriter.write(model, file);
        if (inputs.length > 0) {
            return new ModelCase(EngineCase.TFLITE, file, List.of(inputs));
        }
        try (StockInterpreter stock = new StockInterpreter(file, 1)) {
            long[][] shapes =
                    stock.shapes().stream()
                            .map(shape -> shape.stream().mapToLong(Integer::longValue).toArray())
                            .toArray(long[][]::new);
            return new ModelCase(EngineCase.TFLITE, file, List.of(floats(shapes)));
        }
    }

    /** Returns a network that takes images of any size. */
    private static TfLiteFile anySize() {
        NetworkBuilder network = new NetworkBuilder("any size", 3);
        LayerOutput x = network.input("image", 1, 16, 16, 3);
        x = network.conv2d(x, 8, 3, 1, Activation.NONE);
        x = network.mul(x, network.unary("LOGISTIC", x), Activation.NONE);
        x = network.depthwiseConv2d(x, 3, 1, Activation.RELU6);
        x = network.add(network.conv2d(x, 8, 5, 1, Activation.NONE), x, Activation.RELU);
        x = network.maxPool(x, 2, 2, Padding.SAME);
        return network.output(network.unary("TANH", network.mean(x))).output(x).build();
    }
}
