package org.djlplan.integration.tflite.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.djlplan.integration.support.NeedsModels;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.internal.runtime.tflite.EngineView;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that planned models give the stock engine's bytes, in an arena of the planned size. */
class SameAnswerTest {

    private static final int INPUTS = 3;
    private static final double MIB = 1 << 20;

    @BeforeAll
    static void loadEngine() {
        StockInterpreter.loadEngine();
    }

    @OnEveryDjl
    @ParameterizedTest(name = "{0}, {1} threads")
    @MethodSource(TestModels.BUILT_ON_ONE_AND_TWO_THREADS)
    void predict_plannedModel_givesTheStockBytes(Path file, int threads) throws Exception {
        assertGivesTheStockBytes(file, threads);
    }

    @OnEveryDjl
    @NeedsModels(RealModels.TFLITE)
    @ParameterizedTest(name = "{0}, {1} threads")
    @MethodSource(TestModels.REAL_ON_ONE_AND_TWO_THREADS)
    void predict_realModel_givesTheStockBytes(Path file, int threads) throws Exception {
        assertGivesTheStockBytes(file, threads);
    }

    private static void assertGivesTheStockBytes(Path file, int threads) throws Exception {
        try (StockInterpreter stock = new StockInterpreter(file, threads);
                ZooModel<NDList, NDList> model =
                        Planned.load(file, Map.of("memplan.threads", threads));
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            Set<List<ByteBuffer>> expected = new HashSet<>();
            for (int seed = 0; seed < INPUTS; seed++) {
                List<ByteBuffer> inputs = stock.randomInputs(seed);
                List<ByteBuffer> outputs = stock.run(inputs);
                assertEquals(
                        outputs,
                        Planned.predict(predictor, model.getNDManager(), inputs, stock.shapes()),
                        "input " + seed);
                expected.add(outputs);
            }
            assertTrue(expected.size() > 1, "the inputs make no difference");
            PlanReport report = PlanReport.of(model).orElseThrow();
            assertTrue(report.planned());
            assertEquals(INPUTS, report.predictions().total());
            assertEquals(0, report.predictions().unplanned());
            assertTrue(report.plan().arenaBytes() <= report.plan().naiveBytes());
        }
    }

    @ParameterizedTest(name = "{0}, {1} threads")
    @MethodSource(TestModels.BUILT_ON_ONE_AND_TWO_THREADS)
    void load_plannedModel_needsNoMoreThanTheEngineItself(Path file, int threads) throws Exception {
        assertNeedsNoMoreThanTheEngine(file, threads);
    }

    @NeedsModels(RealModels.TFLITE)
    @ParameterizedTest(name = "{0}, {1} threads")
    @MethodSource(TestModels.REAL_ON_ONE_AND_TWO_THREADS)
    void load_realModel_needsNoMoreThanTheEngineItself(Path file, int threads) throws Exception {
        assertNeedsNoMoreThanTheEngine(file, threads);
    }

    private static void assertNeedsNoMoreThanTheEngine(Path file, int threads) throws Exception {
        long stockBytes = EngineView.of(file, threads).arenaBytes();
        try (ZooModel<NDList, NDList> model =
                Planned.load(file, Map.of("memplan.threads", threads))) {
            PlanReport report = PlanReport.of(model).orElseThrow();
            double ratio =
                    (double) (report.plan().arenaBytes() + report.plan().inputOutputBytes())
                            / stockBytes;
            // The engine may place inputs over dead intermediates, which a separate arena cannot.
            // That saves most if inputs and outputs are a quarter of all memory, as in "chains".
            assertTrue(ratio < 1.2, "of " + stockBytes + " bytes: " + ratio);
        }
    }

    @Test
    @NeedsModels(RealModels.TFLITE)
    void arena_mobileFaceNet_isAtMost77PercentOfTheEngines() throws Exception {
        assertRatio("MobileFaceNet", 0.77);
    }

    @Test
    @NeedsModels(RealModels.TFLITE)
    void arena_faceAntiSpoofing_holdsAllTemporaries() throws Exception {
        assertRatio("FaceAntiSpoofing", 1.001);
    }

    private static void assertRatio(String name, double most) throws Exception {
        Path file = RealModels.TFLITE.file(name);
        try (ZooModel<NDList, NDList> model = Planned.load(file, Map.of("memplan.threads", 1))) {
            PlanReport report = PlanReport.of(model).orElseThrow();
            double own = report.plan().arenaBytes() + report.plan().inputOutputBytes();
            double ratio = own / EngineView.of(file, 1).arenaBytes();
            assertTrue(ratio <= most, name + ": " + ratio);
        }
    }

    @Test
    void lowerBound_mobileNets_matchesKnownValues() throws Exception {
        assertBound("mobilenet_v1", 4.594);
        assertBound("mobilenet_v2", 5.742);
    }

    private static void assertBound(String name, double mib) throws Exception {
        try (ZooModel<NDList, NDList> model =
                Planned.load(TestModels.built(name), Map.of("memplan.threads", 1))) {
            PlanReport report = PlanReport.of(model).orElseThrow();
            assertEquals(mib, report.plan().lowerBoundBytes() / MIB, 0.0005, name);
            assertTrue(report.plan().arenaBytes() <= report.plan().lowerBoundBytes(), name);
        }
    }
}
