package org.djlplan.integration.torch.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.training.ParameterStore;
import ai.djl.translate.Translator;
import ai.djl.util.PairList;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.support.ProcessSize;
import org.djlplan.integration.torch.BareTranslator;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchTests;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests which models have or share arenas, and when arenas are freed. */
@OnEveryDjl
class TorchArenaTest implements TorchTests {

    @TempDir Path folder;

    /** Reserves a buffer for the longest text, and writes nothing to it. */
    private static final class Buffering extends AbstractBlock {

        private static final long BYTES = 256L << 20;

        @Override
        protected NDList forwardInternal(
                ParameterStore store,
                NDList inputs,
                boolean training,
                PairList<String, Object> params) {
            NDArray input = inputs.head();
            try (NDArray buffer = input.getManager().create(new Shape(BYTES), DataType.INT8)) {
                return new NDList(input.add(buffer.size()));
            }
        }

        @Override
        public Shape[] getOutputShapes(Shape[] inputs) {
            return inputs;
        }
    }

    @Test
    void predict_largeBufferOfWhichLittleIsWritten_takesNoMemoryForIt() throws Exception {
        ModelInputs inputs = ModelInputs.floats(new long[] {8});
        try (Model model = Model.newInstance("buffering", "PyTorch")) {
            model.setBlock(new Buffering());
            Translator<NDList, NDList> translator =
                    PlannedTranslatorFactory.wrap(new BareTranslator())
                            .with("delegation.enabled", false)
                            .newInstance(
                                    NDList.class,
                                    NDList.class,
                                    model,
                                    Map.of("memplan.liveness", "off"));
            try (Predictor<NDList, NDList> predictor = model.newPredictor(translator)) {
                List<Output> recorded = Torch.predict(predictor, inputs, 1);
                long before = ProcessSize.residentBytes();
                for (int i = 0; i < 3; i++) {
                    assertEquals(recorded, Torch.predict(predictor, inputs, 1));
                }
                long grown = ProcessSize.residentBytes() - before;
                assertTrue(Torch.report(model).plan().arenaBytes() >= Buffering.BYTES);
                assertTrue(grown < Buffering.BYTES / 4, grown + " bytes");
            }
        }
    }
}
