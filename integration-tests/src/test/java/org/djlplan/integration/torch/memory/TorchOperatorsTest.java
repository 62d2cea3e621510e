package org.djlplan.integration.torch.memory;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toSet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.engine.Engine;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.internal.runtime.torch.OperatorNames;
import org.djlplan.memplan.internal.runtime.torch.OperatorNames.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the operator names that libtorch reports for a prediction, on any platform. */
@OnEveryDjl
@Tag("aarch64")
class TorchOperatorsTest {

    private static final String MODEL = "cnn";

    @TempDir Path folder;

    @Test
    void allocations_haveOperatorsAndShapes_whileThatIsAskedFor() throws Exception {
        ModelInputs inputs = TorchScriptModels.named(MODEL).inputSets().get(0);
        try (ZooModel<NDList, NDList> model = Torch.load(MODEL, folder);
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            List<Output> expected = Torch.predict(predictor, inputs, 0);
            for (int time = 0; time < 2; time++) {
                assertEquals(expected, observed(predictor, inputs));
                List<Named> noted = OperatorNames.noted();
                assertShapes(noted);
                assertEquals(expected, Torch.predict(predictor, inputs, 0));
                assertEquals(noted, OperatorNames.noted(), "something is noted after the end");
            }
        }
    }

    private static List<Output> observed(Predictor<NDList, NDList> predictor, ModelInputs inputs)
            throws Exception {
        Optional<String> refused = OperatorNames.begin(Engine.getEngine("PyTorch").getVersion());
        assertEquals(Optional.empty(), refused);
        try {
            return Torch.predict(predictor, inputs, 0);
        } finally {
            OperatorNames.end();
        }
    }

    /**
     * Checks shapes. The number of a kernel's blocks, besides its result, depends on the processor.
     */
    private static void assertShapes(List<Named> noted) {
        Map<String, Set<List<Integer>>> shapes =
                noted.stream()
                        .filter(each -> each.shape().isPresent())
                        .collect(
                                groupingBy(
                                        Named::operator,
                                        mapping(each -> each.shape().orElseThrow(), toSet())));
        Map<String, List<List<Integer>>> expected =
                Map.of(
                        "aten::conv2d", List.of(List.of(1, 16, 32, 32), List.of(1, 8, 32, 32)),
                        "aten::batch_norm", List.of(List.of(1, 16, 32, 32)),
                        "aten::linear", List.of(List.of(1, 10)));
        expected.forEach(
                (operator, each) ->
                        assertTrue(
                                shapes.getOrDefault(operator, Set.of()).containsAll(each),
                                noted::toString));
    }
}
