package org.djlplan.integration.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;

/** Planned predictions give the bytes of the engine, whoever calls, and on whichever thread. */
interface AnswerContract extends Contract {

    int SEEDS = 12;
    int CALLERS = 16;

    @Test
    default void predict_anyModel_givesTheBytesOfStock(@TempDir Path folder) throws Exception {
        for (ModelCase each : engine().models(folder)) {
            List<List<ByteBuffer>> expected = each.stock(SEEDS);
            for (Object workers : List.of("auto", 0)) {
                try (ZooModel<NDList, NDList> model =
                                each.load(Map.of("memplan.workers", workers));
                        Predictor<NDList, NDList> predictor = model.newPredictor()) {
                    for (int i = 0; i < 2 * SEEDS; i++) {
                        List<ByteBuffer> outputs = each.predict(predictor, i % SEEDS);
                        assertEquals(expected.get(i % SEEDS), outputs, each.file() + ": " + i);
                    }
                    PlanReport report = PlanReport.of(model).orElseThrow();
                    assertTrue(report.planned(), report.toString());
                    assertEquals(engine().engine(), report.engine());
                    assertEquals(2 * SEEDS, report.predictions().total());
                    assertAllPlanned(model);
                }
            }
        }
    }

    private static void assertAllPlanned(ZooModel<NDList, NDList> model) {
        PlanReport report = PlanReport.of(model).orElseThrow();
        assertEquals(0, report.predictions().unplanned(), report.toString());
        assertEquals(0, report.predictions().unplannedAllocations(), report.toString());
    }

    /** Runs tasks in a pool, with fewer workers than there are callers. */
    private void assertRight(Path folder, ExecutorService pool) throws Exception {
        ModelCase each = engine().models(folder).get(0);
        List<List<ByteBuffer>> expected = each.stock(SEEDS);
        try (ZooModel<NDList, NDList> model = each.load(Map.of("memplan.workers", 2))) {
            List<List<ByteBuffer>> outputs =
                    Threads.all(
                            pool,
                            4 * SEEDS,
                            task -> {
                                engine().prepareThread();
                                return each.predict(model, task % SEEDS);
                            });
            for (int task = 0; task < outputs.size(); task++) {
                assertEquals(expected.get(task % SEEDS), outputs.get(task));
            }
            assertAllPlanned(model);
        }
    }

    @Test
    default void predict_futuresOfACommonPool_giveTheBytesOfStock(@TempDir Path folder)
            throws Exception {
        assertRight(folder, new ForkJoinPool(CALLERS));
    }

    /** A virtual thread may continue on another native thread in the middle of a pass. */
    @Test
    @EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "Java 17 has no virtual threads")
    default void predict_virtualThreads_giveTheBytesOfStock(@TempDir Path folder) throws Exception {
        assertRight(
                folder,
                (ExecutorService)
                        Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null));
    }

    @Test
    default void predict_manyThreads_giveTheBytesOfStock(@TempDir Path folder) throws Exception {
        for (ModelCase each : engine().models(folder)) {
            List<List<ByteBuffer>> expected = each.stock(SEEDS);
            try (ZooModel<NDList, NDList> model = each.load(Map.of("memplan.workers", 3));
                    Predictor<NDList, NDList> shared = model.newPredictor()) {
                Threads.all(
                        CALLERS,
                        thread -> {
                            engine().prepareThread();
                            try (Predictor<NDList, NDList> own = model.newPredictor()) {
                                for (int i = 0; i < SEEDS; i++) {
                                    int seed = (7 * i + thread) % SEEDS;
                                    assertEquals(
                                            expected.get(seed),
                                            each.predict(i % 2 == 0 ? own : shared, seed));
                                }
                            }
                            return true;
                        });
                PlanReport report = PlanReport.of(model).orElseThrow();
                assertEquals(CALLERS * SEEDS, report.predictions().total());
                assertAllPlanned(model);
                assertTrue(PlannedModels.pools().arenas().count() <= CALLERS);
                assertEquals(0, PlannedModels.pools().arenas().inUse());
            }
        }
    }

    /** There are more callers than workers, so that most of them wait. */
    @Test
    default void predict_interruptedCallers_getTheirAnswersAndStayInterrupted(@TempDir Path folder)
            throws Exception {
        ModelCase each = engine().models(folder).get(0);
        List<List<ByteBuffer>> expected = each.stock(SEEDS);
        try (ZooModel<NDList, NDList> model = each.load(Map.of("memplan.workers", 1))) {
            List<Integer> right =
                    Threads.all(
                            CALLERS,
                            thread -> {
                                engine().prepareThread();
                                int count = 0;
                                for (int seed = 0; seed < SEEDS; seed++) {
                                    Thread.currentThread().interrupt();
                                    boolean same =
                                            each.predict(model, seed).equals(expected.get(seed));
                                    count += Thread.interrupted() && same ? 1 : 0;
                                }
                                return count;
                            });
            right.forEach(count -> assertEquals(SEEDS, count));
        }
    }

    /** Outputs of two predictors are kept; then some are closed, and more are predicted. */
    @Test
    default void predict_outputsAreKept_keepTheirBytes(@TempDir Path folder) throws Exception {
        for (ModelCase each : engine().models(folder)) {
            List<List<ByteBuffer>> expected = each.stock(SEEDS);
            try (ZooModel<NDList, NDList> model = each.load();
                    Predictor<NDList, NDList> one = model.newPredictor();
                    Predictor<NDList, NDList> other = model.newPredictor();
                    NDManager manager = engine().newManager()) {
                List<NDList> kept = new ArrayList<>();
                for (int seed = 0; seed < SEEDS; seed++) {
                    kept.add((seed % 2 == 0 ? one : other).predict(each.inputs(manager, seed)));
                }
                for (int seed = 0; seed < SEEDS; seed++) {
                    assertEquals(expected.get(seed), ModelCase.bytes(kept.get(seed)));
                }
                for (int seed = 0; seed < SEEDS; seed += 2) {
                    kept.get(seed).close();
                    assertEquals(expected.get(seed), each.predict(one, seed));
                }
                for (int seed = 1; seed < SEEDS; seed += 2) {
                    assertEquals(expected.get(seed), ModelCase.bytes(kept.get(seed)));
                    kept.get(seed).close();
                }
            }
        }
    }

    /** Predictions of this model differ only in how much memory their operators may use. */
    @Test
    default void predict_inABudget_givesTheBytesOfStock(@TempDir Path folder) throws Exception {
        ModelCase each = engine().models(folder).get(0);
        List<List<ByteBuffer>> expected = each.stock(SEEDS);
        try (ZooModel<NDList, NDList> model = each.load(Map.of("memplan.budget", "64MB"))) {
            Threads.all(
                    4,
                    thread -> {
                        engine().prepareThread();
                        for (int seed = 0; seed < SEEDS; seed++) {
                            assertEquals(expected.get(seed), each.predict(model, seed));
                        }
                        return true;
                    });
            PlanReport report = PlanReport.of(model).orElseThrow();
            assertEquals(64_000_000, report.budget().orElseThrow().budgetBytes());
            assertTrue(report.budget().orElseThrow().attainable(), report.toString());
        }
    }
}
