package org.djlplan.integration.text;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.modality.nlp.generate.CausalLMOutput;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.integration.torch.TorchTests;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that planned text generation yields stock's tokens. */
@OnEveryDjlWhenLong
class GenerationTest implements TorchTests {

    private static final int PROMPT = 5;
    private static final int LENGTH = 60;
    private static final int CACHED = 48;

    @TempDir Path folder;

    private Path file(String name) throws Exception {
        return Torch.copy(TorchScriptModels.text(name).file(), folder);
    }

    @ParameterizedTest
    @CsvSource({"greedy,1", "greedy,4", "beam,1", "beam,3", "contrastive,1", "contrastive,2"})
    void generate_growingCache_tokensAreStocks(String search, int sequences) throws Exception {
        Path file = file("generator");
        Generation generation = Generation.SMALL;
        List<String> expected = new ArrayList<>();
        try (ZooModel<NDList, CausalLMOutput> stock = generation.load(file, false);
                Predictor<NDList, CausalLMOutput> predictor = stock.newPredictor()) {
            for (int round = 0; round < 2; round++) {
                expected.add(generation.print(predictor, search, sequences, PROMPT, LENGTH));
            }
        }
        try (ZooModel<NDList, CausalLMOutput> model = generation.load(file, true);
                Predictor<NDList, CausalLMOutput> predictor = model.newPredictor()) {
            for (String tokens : expected) {
                assertEquals(
                        tokens, generation.print(predictor, search, sequences, PROMPT, LENGTH));
            }
            PlanReport.Predictions predictions = Torch.report(model).predictions();
            assertEquals(predictions.total(), predictions.online(), predictions.toString());
            assertEquals(0, predictions.unplannedAllocations(), predictions.toString());
            assertTrue(predictions.total() >= 2 * (LENGTH - PROMPT), predictions.toString());
        }
    }

    /** The caller's arrays hold the cache; the model returns them, and writes one row each time. */
    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void generate_cacheIsWrittenInPlace_itStaysWhereItIs(int sequences) throws Exception {
        Path file = file("cached_generator");
        List<float[]> expected;
        try (ZooModel<NDList, NDList> stock = Torch.loadStock(file)) {
            expected = inPlace(stock, sequences);
        }
        try (ZooModel<NDList, NDList> model = Torch.load(file, Map.of())) {
            List<float[]> answers = inPlace(model, sequences);
            for (int i = 0; i < CACHED; i++) {
                assertArrayEquals(expected.get(i), answers.get(i), "token " + i);
            }
            assertAllInAnArena(model);
        }
    }

    /** Fails if the cache that the model returns is not the memory that the caller gave it. */
    private static List<float[]> inPlace(ZooModel<NDList, NDList> model, int sequences)
            throws Exception {
        List<float[]> answers = new ArrayList<>();
        try (NDManager manager = NDManager.newBaseManager("PyTorch");
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            Shape cache = new Shape(sequences, 4, CACHED, 8);
            NDArray keys = manager.zeros(cache, DataType.FLOAT32);
            NDArray values = manager.zeros(cache, DataType.FLOAT32);
            long[] tokens = new long[sequences];
            Arrays.setAll(tokens, i -> 1 + i);
            for (int i = 0; i < CACHED; i++) {
                NDArray token = manager.create(tokens, new Shape(sequences, 1));
                NDArray position = manager.create(new long[] {i});
                NDList outputs = predictor.predict(new NDList(token, position, keys, values));
                NDArray scores = outputs.get(0);
                answers.add(scores.toFloatArray());
                tokens = scores.argMax(2).flatten().toLongArray();
                assertSameMemory(keys, outputs.get(1), i);
                assertSameMemory(values, outputs.get(2), i);
                outputs.close();
            }
        }
        return answers;
    }

    /** Asserts that a value written to one array is read from the other. */
    private static void assertSameMemory(NDArray given, NDArray returned, int row) {
        float before = given.getFloat(0, 0, row, 0);
        assertEquals(before, returned.getFloat(0, 0, row, 0));
        given.set(new NDIndex("0, 0, {}, 0", row), before + 1);
        assertEquals(before + 1, returned.getFloat(0, 0, row, 0));
        given.set(new NDIndex("0, 0, {}, 0", row), before);
    }

    private static void assertAllInAnArena(ZooModel<NDList, NDList> model) {
        PlanReport.Predictions predictions = Torch.report(model).predictions();
        assertEquals(CACHED, predictions.total());
        assertEquals(0, predictions.unplanned(), predictions.toString());
        assertEquals(0, predictions.unplannedAllocations(), predictions.toString());
    }

    /** The cache is among the model's weights. */
    @Test
    void generate_cacheInModelBuffer_isNotPlaced() throws Exception {
        Path file = file("buffered_generator");
        List<float[]> expected;
        try (ZooModel<NDList, NDList> stock = Torch.loadStock(file)) {
            expected = buffered(stock);
        }
        try (ZooModel<NDList, NDList> model = Torch.load(file, Map.of())) {
            List<float[]> answers = buffered(model);
            for (int i = 0; i < CACHED; i++) {
                assertArrayEquals(expected.get(i), answers.get(i), "token " + i);
            }
            assertAllInAnArena(model);
        }
    }

    private static List<float[]> buffered(ZooModel<NDList, NDList> model) throws Exception {
        List<float[]> answers = new ArrayList<>();
        try (NDManager manager = NDManager.newBaseManager("PyTorch");
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            long token = 1;
            for (int i = 0; i < CACHED; i++) {
                NDArray tokens = manager.create(new long[] {token}, new Shape(1, 1));
                NDArray position = manager.create(new long[] {i});
                try (NDList outputs = predictor.predict(new NDList(tokens, position))) {
                    answers.add(outputs.head().toFloatArray());
                    token = outputs.head().argMax(2).flatten().getLong();
                }
            }
        }
        return answers;
    }
}
