package org.djlplan.integration.torch.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.torch.BlockModels;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModel;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.internal.runtime.ArenaMetric;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests batches of many sizes with one model. */
@OnEveryDjlWhenLong
class TorchBatchFamilyTest {

    private static final int LARGEST = 8;
    private static final int THREADS = 4;

    /** One page for rounding up the arena, and one that kernels may read behind it. */
    private static final long ROUNDING_BYTES = 2 * 4096;

    @TempDir Path folder;

    @BeforeEach
    void oneThread() {
        Torch.threads(1);
    }

    @AfterEach
    void everythingIsFreed() {
        Torch.assertNoArenas();
    }

    /** Predicts some batches of each size, the largest first. */
    private static void assertAsStock(
            ModelInputs inputs, ZooModel<NDList, NDList> stock, ZooModel<NDList, NDList> planned)
            throws Exception {
        try (Predictor<NDList, NDList> plain = stock.newPredictor();
                Predictor<NDList, NDList> predictor = planned.newPredictor()) {
            for (int size = LARGEST; size > 0; size--) {
                for (int seed = 0; seed < 3; seed++) {
                    ModelInputs batch = inputs.ofBatch(size);
                    List<Output> expected = Torch.predict(plain, batch, seed);
                    assertEquals(expected, Torch.predict(predictor, batch, seed), "of " + size);
                }
            }
        }
    }

    private static PlanReport.Predictions predictions(ZooModel<NDList, NDList> model) {
        return Torch.report(model).predictions();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"cnn", "cnn_traced", "cnn_frozen", "attention", "lstm", "embedding", "wide"})
    void predict_manySizes_allLieInAnArena(String name) throws Exception {
        TorchScriptModel model = TorchScriptModels.named(name);
        try (ZooModel<NDList, NDList> stock = Torch.loadStock(model.file());
                ZooModel<NDList, NDList> planned = Torch.load(name, folder)) {
            assertAsStock(model.inputSets().get(0), stock, planned);
            PlanReport.Predictions predictions = predictions(planned);
            assertEquals(predictions.total(), predictions.online(), predictions.toString());
        }
    }

    @ParameterizedTest
    @EnumSource(BlockModels.Kind.class)
    void predict_manySizesOfABlock_answersAsStock(BlockModels.Kind kind) throws Exception {
        BlockModels.save(kind, folder);
        try (ZooModel<NDList, NDList> stock = BlockModels.loadStock(kind, folder);
                ZooModel<NDList, NDList> planned = BlockModels.load(kind, folder, Map.of())) {
            assertAsStock(BlockModels.INPUTS, stock, planned);
        }
    }

    private static boolean isSame(
            ZooModel<NDList, NDList> stock,
            ZooModel<NDList, NDList> planned,
            ModelInputs inputs,
            int seed)
            throws Exception {
        Torch.threads(1);
        return Torch.predict(stock, inputs, seed).equals(Torch.predict(planned, inputs, seed));
    }

    @Test
    void predict_manySizesOnManyThreads_answersAsStockInFewArenas() throws Exception {
        TorchScriptModel model = TorchScriptModels.named("cnn");
        ModelInputs inputs = model.inputSets().get(0);
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        try (ZooModel<NDList, NDList> stock = Torch.loadStock(model.file());
                ZooModel<NDList, NDList> planned = Torch.load(model.name(), folder)) {
            List<Output> unused = Torch.predict(planned, inputs.ofBatch(LARGEST), 0);
            List<Future<Boolean>> same = new ArrayList<>();
            for (int i = 0; i < 64 * LARGEST; i++) {
                ModelInputs batch = inputs.ofBatch(1 + i % LARGEST);
                int seed = i;
                same.add(pool.submit(() -> isSame(stock, planned, batch, seed)));
            }
            for (Future<Boolean> each : same) {
                assertTrue(each.get());
            }
            ArenaMetric arenas = ArenaPool.shared().metric();
            long most = Torch.report(planned).plan().arenaBytes() + ROUNDING_BYTES;
            assertTrue(arenas.arenas() <= THREADS, arenas.toString());
            assertTrue(arenas.arenaBytes() <= arenas.arenas() * most, arenas.toString());
        } finally {
            pool.shutdown();
        }
    }
}
