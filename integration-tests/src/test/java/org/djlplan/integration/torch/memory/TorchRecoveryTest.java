package org.djlplan.integration.torch.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ai.djl.Model;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.training.ParameterStore;
import ai.djl.translate.TranslateException;
import ai.djl.translate.Translator;
import ai.djl.util.PairList;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.torch.BareTranslator;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that a failure in one prediction does not affect later ones. */
@OnEveryDjlWhenLong
class TorchRecoveryTest {

    private static final int SEEDS = 5;

    /** Words that the embedding table has, and some that it does not have. */
    private static final ModelInputs WORDS = words(100);

    private static final ModelInputs UNKNOWN_WORDS = words(1_000_000);

    @TempDir Path folder;

    private Runnable resetCache;

    private static ModelInputs words(int limit) {
        return ModelInputs.floats().and(DataType.INT64, limit, 4, 20);
    }

    /** Sets an empty cache folder, because plans of models without a folder are stored there. */
    @BeforeEach
    void oneThreadAndNoPlans() {
        Torch.threads(1);
        resetCache = Torch.useCache(folder);
    }

    @AfterEach
    void everythingIsFreed() {
        resetCache.run();
        Torch.assertNoArenas();
    }

    private static void assertRight(
            Predictor<NDList, NDList> predictor, ModelInputs inputs, List<List<Output>> expected)
            throws Exception {
        for (int seed = 0; seed < expected.size(); seed++) {
            assertEquals(expected.get(seed), Torch.predict(predictor, inputs, seed));
        }
        assertEquals(0, ArenaPool.shared().metric().leased());
    }

    @Test
    void predict_modelThrowsInTheMiddle_laterOnesArePlannedAsBefore() throws Exception {
        Path file = Torch.copy(TorchScriptModels.named("embedding"), folder);
        List<List<Output>> expected = Torch.stock(file, WORDS, SEEDS);
        try (ZooModel<NDList, NDList> model = Torch.load(file, Map.of());
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            assertRight(predictor, WORDS, expected);
            assertThrows(
                    TranslateException.class, () -> Torch.predict(predictor, UNKNOWN_WORDS, 1));
            long unplanned = Torch.report(model).predictions().unplanned();
            assertRight(predictor, WORDS, expected);
            assertEquals(unplanned, Torch.report(model).predictions().unplanned());
        }
    }

    /** The input is a closed array, or a text, which the engine rejects with its own error. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void predict_inputIsNoTensor_laterOnesArePlannedAsBefore(boolean isText) throws Exception {
        Path file = Torch.copy(TorchScriptModels.named("cnn"), folder);
        ModelInputs inputs = TorchScriptModels.named("cnn").inputSets().get(0);
        List<List<Output>> expected = Torch.stock(file, inputs, SEEDS);
        try (ZooModel<NDList, NDList> stock = Torch.loadStock(file);
                Predictor<NDList, NDList> stockPredictor = stock.newPredictor();
                ZooModel<NDList, NDList> model = Torch.load(file, Map.of());
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            assertEquals(problem(stockPredictor, isText), problem(predictor, isText));
            assertRight(predictor, inputs, expected);
            long before = Torch.report(model).predictions().unplanned();
            assertEquals(problem(stockPredictor, isText), problem(predictor, isText));
            assertEquals(before + (isText ? 1 : 0), Torch.report(model).predictions().unplanned());
            assertRight(predictor, inputs, expected);
            assertEquals(Optional.empty(), Torch.report(model).unplannedReason());
        }
    }

    private static String problem(Predictor<NDList, NDList> predictor, boolean isText) {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDList inputs =
                    isText
                            ? new NDList(manager.create("text"))
                            : new NDList(manager.create(1f), manager.create(2f));
            if (!isText) {
                // Makes the array know its type, so that after it is closed only its shape is
                // missing.
                DataType unused = inputs.get(1).getDataType();
                inputs.get(1).close();
            }
            return assertThrows(TranslateException.class, () -> predictor.predict(inputs))
                    .getCause()
                    .toString();
        }
    }

    /** Makes the same allocations in each pass, but frees one array early or late. */
    private static final class Holding extends AbstractBlock {

        private boolean holds;

        @Override
        protected NDList forwardInternal(
                ParameterStore store,
                NDList inputs,
                boolean training,
                PairList<String, Object> params) {
            NDArray input = inputs.head();
            NDArray held = input.add(1);
            if (!holds) {
                held.close();
            }
            NDArray twice = input.mul(2);
            return new NDList((holds ? held : input).sub(twice));
        }

        @Override
        public Shape[] getOutputShapes(Shape[] inputs) {
            return inputs;
        }
    }

    @Test
    void predict_arrayLivesLongerThanRecorded_keepsItsPlaceToItself() throws Exception {
        ModelInputs inputs = ModelInputs.floats(new long[] {8, 100});
        Holding stock = new Holding();
        Holding planned = new Holding();
        try (Model stockModel = Model.newInstance("holding", "PyTorch");
                Model model = Model.newInstance("holding", "PyTorch")) {
            stockModel.setBlock(stock);
            model.setBlock(planned);
            Translator<NDList, NDList> translator =
                    PlannedTranslatorFactory.wrap(new BareTranslator())
                            .with("delegation.enabled", false)
                            .newInstance(
                                    NDList.class,
                                    NDList.class,
                                    model,
                                    Map.of("memplan.liveness", "off"));
            try (Predictor<NDList, NDList> expected =
                            stockModel.newPredictor(new BareTranslator());
                    Predictor<NDList, NDList> actual = model.newPredictor(translator)) {
                for (int seed = 0; seed < SEEDS; seed++) {
                    stock.holds = seed % 2 == 1;
                    planned.holds = stock.holds;
                    assertEquals(
                            Torch.predict(expected, inputs, seed),
                            Torch.predict(actual, inputs, seed));
                }
            }
        }
    }
}
