package org.djlplan.integration.tflite.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
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
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Test;

/**
 * Tests several threads on one model, and the documented behaviour of the stock engine in that
 * case.
 */
class ConcurrencyTest {

    private static final int THREADS = 8;
    private static final int PREDICTIONS = 500;
    private static final int INPUTS = 16;

    @Test
    void predict_eightThreadsOnOneModel_allEqualTheSingleThreadedResults() throws Exception {
        Path file = TestModels.built("chains");
        try (StockInterpreter stock = new StockInterpreter(file, 1);
                ZooModel<NDList, NDList> model =
                        Planned.load(file, Map.of("memplan.threads", 1, "memplan.workers", 3))) {
            List<List<ByteBuffer>> inputs = new ArrayList<>();
            List<List<ByteBuffer>> expected = new ArrayList<>();
            for (int seed = 0; seed < INPUTS; seed++) {
                inputs.add(stock.randomInputs(seed));
                expected.add(stock.run(inputs.get(seed)));
            }
            List<List<Integer>> shapes = stock.shapes();

            int wrong =
                    onThreads(
                            thread -> {
                                int different = 0;
                                try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
                                    for (int i = 0; i < PREDICTIONS; i++) {
                                        int k = (i * 7 + thread) % INPUTS;
                                        List<ByteBuffer> outputs =
                                                Planned.predict(
                                                        predictor,
                                                        model.getNDManager(),
                                                        inputs.get(k),
                                                        shapes);
                                        different += outputs.equals(expected.get(k)) ? 0 : 1;
                                    }
                                }
                                return different;
                            });

            assertEquals(0, wrong);
            PlanReport report = PlanReport.of(model).orElseThrow();
            assertEquals(THREADS * PREDICTIONS, report.predictions().total());
            assertEquals(0, report.predictions().unplanned());
            assertTrue(report.interpreters().size() <= 3, report.toString());
            report.interpreters().forEach(i -> assertTrue(i.ownBytes() > 0));
        }
    }

    /** More callers than interpreters, so that most of them wait. */
    @Test
    void predict_interruptedCallers_getTheirAnswersAndStayInterrupted() throws Exception {
        Path file = TestModels.built("chains");
        try (StockInterpreter stock = new StockInterpreter(file, 1);
                ZooModel<NDList, NDList> model =
                        Planned.load(file, Map.of("memplan.threads", 1, "memplan.workers", 1))) {
            List<ByteBuffer> inputs = stock.randomInputs(1);
            List<ByteBuffer> expected = stock.run(inputs);
            List<List<Integer>> shapes = stock.shapes();
            int right =
                    onThreads(
                            thread -> {
                                int count = 0;
                                for (int i = 0; i < INPUTS; i++) {
                                    Thread.currentThread().interrupt();
                                    boolean same =
                                            Planned.predict(model, inputs, shapes).equals(expected);
                                    count += same && Thread.interrupted() ? 1 : 0;
                                }
                                return count;
                            });
            assertEquals(THREADS * INPUTS, right);
        }
    }

    private interface Work {
        int run(int thread) throws Exception;
    }

    private static int onThreads(Work work) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            List<Callable<Integer>> tasks = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                int thread = t;
                tasks.add(() -> work.run(thread));
            }
            int sum = 0;
            for (Future<Integer> result : threads.invokeAll(tasks)) {
                sum += result.get();
            }
            return sum;
        } finally {
            threads.shutdownNow();
        }
    }

    /** In the stock engine, the second prediction changes the first result; here it does not. */
    @Test
    void predict_twice_firstResultStaysUnlessStock() throws Exception {
        Path file = TestModels.built("blaze_face");
        try (ZooModel<NDList, NDList> stock = Planned.loadStock(file)) {
            assertNotEquals(firstResultBefore(stock), firstResultAfterASecond(stock));
        }
        try (ZooModel<NDList, NDList> planned = Planned.load(file, Map.of())) {
            assertEquals(firstResultBefore(planned), firstResultAfterASecond(planned));
        }
    }

    private static ByteBuffer firstResultBefore(ZooModel<NDList, NDList> model) throws Exception {
        return twice(model, false);
    }

    private static ByteBuffer firstResultAfterASecond(ZooModel<NDList, NDList> model)
            throws Exception {
        return twice(model, true);
    }

    private static ByteBuffer twice(ZooModel<NDList, NDList> model, boolean second)
            throws Exception {
        try (StockInterpreter shapes = new StockInterpreter(TestModels.built("blaze_face"), 1);
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            NDList first =
                    predictor.predict(
                            Planned.inputs(manager, shapes.randomInputs(1), shapes.shapes()));
            if (second) {
                NDList unused =
                        predictor.predict(
                                Planned.inputs(manager, shapes.randomInputs(2), shapes.shapes()));
            }
            return Planned.copy(first.head().toByteBuffer());
        }
    }

    /**
     * All predictors of a stock model share one interpreter, so one predictor overwrites the result
     * of another; planned ones never share an interpreter at the same time.
     */
    @Test
    void predict_twoPredictors_shareAnInterpreterOnlyInStock() throws Exception {
        Path file = TestModels.built("blaze_face");
        try (ZooModel<NDList, NDList> stock = Planned.loadStock(file)) {
            assertTrue(secondPredictorChangesTheFirstResult(stock));
        }
        try (ZooModel<NDList, NDList> planned = Planned.load(file, Map.of())) {
            assertTrue(!secondPredictorChangesTheFirstResult(planned));
        }
    }

    private static boolean secondPredictorChangesTheFirstResult(ZooModel<NDList, NDList> model)
            throws Exception {
        try (StockInterpreter shapes = new StockInterpreter(TestModels.built("blaze_face"), 1);
                Predictor<NDList, NDList> one = model.newPredictor();
                Predictor<NDList, NDList> other = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            NDList result =
                    one.predict(Planned.inputs(manager, shapes.randomInputs(1), shapes.shapes()));
            ByteBuffer before = Planned.copy(result.head().toByteBuffer());
            NDList unused =
                    other.predict(Planned.inputs(manager, shapes.randomInputs(2), shapes.shapes()));
            return !before.equals(Planned.copy(result.head().toByteBuffer()));
        }
    }
}
