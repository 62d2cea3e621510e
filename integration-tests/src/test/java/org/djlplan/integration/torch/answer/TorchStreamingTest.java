package org.djlplan.integration.torch.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.inference.streaming.StreamingTranslator;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoBatchifyTranslator;
import ai.djl.translate.TranslatorContext;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.djlplan.integration.torch.BlockModels;
import org.djlplan.integration.torch.BlockModels.Kind;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a block that streams its output, layer by layer. */
class TorchStreamingTest {

    @TempDir Path folder;

    @AfterEach
    void everythingIsFreed() {
        Torch.assertNoArenas();
    }

    /** Returns the streamed output of a sequential block, layer by layer. */
    private static final class Chunks
            implements NoBatchifyTranslator<NDList, NDList>, StreamingTranslator<NDList, NDList> {

        @Override
        public NDList processInput(TranslatorContext context, NDList inputs) {
            return inputs;
        }

        @Override
        public NDList processOutput(TranslatorContext context, NDList outputs) {
            return outputs;
        }

        @Override
        public Support getSupport() {
            return Support.ITERATIVE;
        }

        @Override
        public StreamOutput<NDList> processStreamOutput(
                TranslatorContext context, Stream<NDList> chunks) {
            return new StreamOutput<>() {
                @Override
                protected NDList buildAsyncOutput() {
                    throw new AssertionError("not asked for");
                }

                @Override
                protected void computeAsyncOutputInternal(NDList output) {
                    throw new AssertionError("not asked for");
                }

                @Override
                public NDList getIterativeOutputInternal() {
                    NDList all = new NDList();
                    chunks.forEach(all::addAll);
                    return all;
                }
            };
        }
    }

    @Test
    void streamingPredict_sequential_givesTheStockBytes() throws Exception {
        BlockModels.save(Kind.SEQUENTIAL, folder);
        List<List<Output>> streams = new ArrayList<>();
        try (ZooModel<NDList, NDList> stock = BlockModels.loadStock(Kind.SEQUENTIAL, folder);
                ZooModel<NDList, NDList> planned =
                        BlockModels.load(Kind.SEQUENTIAL, folder, Map.of())) {
            assertNotSame(stock.getBlock().getClass(), planned.getBlock().getClass());
            for (ZooModel<NDList, NDList> model : List.of(stock, planned)) {
                assertEquals(1, Torch.predict(model, BlockModels.INPUTS, 1).size());
                try (Predictor<NDList, NDList> predictor = model.newPredictor(new Chunks());
                        NDManager manager = NDManager.newBaseManager("PyTorch")) {
                    assertTrue(predictor.supportsStreaming());
                    streams.add(
                            Output.copyOf(
                                    predictor
                                            .streamingPredict(BlockModels.INPUTS.create(manager, 1))
                                            .getIterativeOutput()));
                }
            }
        }
        assertEquals(streams.get(0), streams.get(1));
        assertEquals(4, streams.get(0).size());
    }
}
