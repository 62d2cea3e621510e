package org.djlplan.integration.torch.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.djlplan.integration.support.NeedsModels;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModel;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that planned predictions give the stock engine's bytes, with the same number of threads per
 * operator.
 */
@OnEveryDjl
class TorchSameAnswerTest {

    private static final int SEEDS = 20;

    /** A first fit may leave this much, and so many bytes, without a plan. */
    private static final double NEAR_BOUND = 1.05;

    private static final long NEAR_BOUND_BYTES = 4 << 20;

    /** The worst, that of the model that shows it. */
    private static final double FIRST_FIT = 1.5;

    private static final ModelInputs IMAGE = ModelInputs.floats(new long[] {1, 3, 224, 224});

    /**
     * Models whose allocations depend on the inputs' values, on earlier predictions, or on chance.
     */
    private static final ImmutableSet<String> CHANGING =
            ImmutableSet.of("branch", "loop", "growing", "nonzero", "counter", "cache", "fork");

    @TempDir Path folder;

    static Stream<Arguments> modelsAndThreads() {
        return TorchScriptModels.all().stream()
                .flatMap(
                        model ->
                                IntStream.of(1, 2)
                                        .mapToObj(threads -> Arguments.of(model, threads)));
    }

    static Stream<Arguments> realModelsAndThreads() {
        return RealModels.TORCHSCRIPT.files().stream()
                .flatMap(
                        file ->
                                IntStream.of(1, 2)
                                        .mapToObj(threads -> Arguments.of(file, threads)));
    }

    @AfterEach
    void everythingIsFreed() {
        Torch.assertNoArenas();
    }

    @ParameterizedTest
    @MethodSource("modelsAndThreads")
    void predict_anyModel_givesTheStockBytes(TorchScriptModel model, int threads) throws Exception {
        Torch.threads(threads);
        Path file = Torch.copy(model, folder);
        try (ZooModel<NDList, NDList> planned = Torch.load(file, Map.of());
                ZooModel<NDList, NDList> stock = Torch.loadStock(file);
                Predictor<NDList, NDList> predictor = planned.newPredictor();
                Predictor<NDList, NDList> stockPredictor = stock.newPredictor()) {
            for (ModelInputs inputs : model.inputSets()) {
                for (int seed = 0; seed < SEEDS; seed++) {
                    assertEquals(
                            Torch.predict(stockPredictor, inputs, seed),
                            Torch.predict(predictor, inputs, seed),
                            "seed " + seed);
                }
            }
            PlanReport report = Torch.report(planned);
            assertTrue(report.planned());
            assertEquals(model.inputSets().size() * (long) SEEDS, report.predictions().total());
            if (!CHANGING.contains(model.name())) {
                assertAllInAnArena(report);
            }
        }
    }

    private static void assertAllInAnArena(PlanReport report) {
        assertEquals(0, report.predictions().unplanned(), report.toString());
        assertEquals(0, report.predictions().unplannedAllocations(), report.toString());
        assertNearBound(report);
    }

    private static void assertNearBound(PlanReport report) {
        double bytes = report.plan().arenaBytes();
        long bound = report.plan().lowerBoundBytes();
        assertTrue(
                bytes <= FIRST_FIT * bound
                        && (bytes <= NEAR_BOUND * bound || bytes <= bound + NEAR_BOUND_BYTES),
                report.toString());
    }

    @NeedsModels(RealModels.TORCHSCRIPT)
    @ParameterizedTest
    @MethodSource("realModelsAndThreads")
    void predict_realModel_givesTheStockBytesInTheLeastMemory(Path real, int threads)
            throws Exception {
        Torch.threads(threads);
        int seeds = 4;
        List<List<Output>> expected = Torch.stock(real, IMAGE, seeds);
        try (ZooModel<NDList, NDList> planned = Torch.load(Torch.copy(real, folder), Map.of());
                Predictor<NDList, NDList> predictor = planned.newPredictor()) {
            for (int seed = 0; seed < seeds; seed++) {
                assertEquals(expected.get(seed), Torch.predict(predictor, IMAGE, seed));
            }
            assertAllInAnArena(Torch.report(planned));
        }
    }
}
