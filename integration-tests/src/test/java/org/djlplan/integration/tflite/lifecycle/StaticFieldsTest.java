package org.djlplan.integration.tflite.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import ai.djl.ModelException;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.djlplan.integration.support.Freed;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests a model and its one predictor in static fields, where functions for frameworks often have
 * them. The model is loaded when several threads use the class for the first time, and all threads
 * use it.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class StaticFieldsTest {

    private static final int THREADS = 8;
    private static final int PREDICTIONS = 200;
    private static final int INPUTS = 16;
    private static final Path FILE = TestModels.built("chains");

    /** The static fields of an application class. */
    private record Fields(ZooModel<NDList, NDList> model, Predictor<NDList, NDList> predictor) {

        static Fields loaded() {
            Criteria<NDList, NDList> criteria =
                    Criteria.builder()
                            .setTypes(NDList.class, NDList.class)
                            .optModelPath(FILE)
                            .optEngine("TFLite")
                            .optTranslatorFactory(
                                    Planned.factory(
                                            Map.of(
                                                    "memplan.threads",
                                                    1,
                                                    "delegation.enabled",
                                                    false)))
                            .build();
            try {
                ZooModel<NDList, NDList> model = PlannedModels.acquire("static", criteria);
                return new Fields(model, model.newPredictor());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (ModelException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static final class One {
        private static final Fields FIELDS = Fields.loaded();
    }

    private static final class Other {
        private static final Fields FIELDS = Fields.loaded();
    }

    private static Fields fields(int thread) {
        return thread % 2 == 0 ? One.FIELDS : Other.FIELDS;
    }

    @Test
    void predict_manyThreadsOnStaticPredictors_allEqualTheSingleThreadedResults() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try (StockInterpreter stock = new StockInterpreter(FILE, 1)) {
            List<List<ByteBuffer>> inputs = new ArrayList<>();
            List<List<ByteBuffer>> expected = new ArrayList<>();
            for (int seed = 0; seed < INPUTS; seed++) {
                inputs.add(stock.randomInputs(seed));
                expected.add(stock.run(inputs.get(seed)));
            }
            List<List<Integer>> shapes = stock.shapes();
            CyclicBarrier together = new CyclicBarrier(THREADS);
            List<Callable<Integer>> tasks = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                int thread = t;
                tasks.add(
                        () -> {
                            together.await();
                            Fields fields = fields(thread);
                            int different = 0;
                            for (int i = 0; i < PREDICTIONS; i++) {
                                int k = (i * 7 + thread) % INPUTS;
                                List<ByteBuffer> outputs =
                                        Planned.predict(
                                                fields.predictor(),
                                                fields.model().getNDManager(),
                                                inputs.get(k),
                                                shapes);
                                different += outputs.equals(expected.get(k)) ? 0 : 1;
                            }
                            return different;
                        });
            }

            int wrong = 0;
            for (Future<Integer> each : threads.invokeAll(tasks)) {
                wrong += each.get();
            }

            assertEquals(0, wrong);
            assertSame(
                    One.FIELDS.model().getWrappedModel(), Other.FIELDS.model().getWrappedModel());
            PlanReport report = PlanReport.of(One.FIELDS.model()).orElseThrow();
            assertEquals(THREADS * PREDICTIONS, report.predictions().total());
            assertEquals(0, report.predictions().unplanned());
        } finally {
            threads.shutdownNow();
            for (Fields each : List.of(One.FIELDS, Other.FIELDS)) {
                each.predictor().close();
                each.model().close();
            }
            PlannedModels.closeUnused(Thread.currentThread().getContextClassLoader());
        }
        Freed.assertEverything();
    }
}
