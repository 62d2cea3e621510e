package org.djlplan.integration.tflite.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.djlplan.integration.support.BudgetModels;
import org.djlplan.integration.support.Freed;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.tflite.budget.Budgeted.Answers;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests many threads, several models with budgets, and models that are closed during predictions.
 */
class BudgetConcurrencyTest {

    private static final int THREADS = 4;
    private static final int PREDICTIONS = 8;
    private static final int INPUTS = 3;

    @TempDir Path folder;

    private final ExecutorService executor = Executors.newFixedThreadPool(2 * THREADS + 1);

    @AfterEach
    void end() {
        executor.shutdownNow();
        Freed.assertEverything();
    }

    private static List<ByteBuffer> predict(
            Predictor<NDList, NDList> predictor,
            ZooModel<NDList, NDList> model,
            Answers answers,
            int input)
            throws TranslateException {
        return Planned.predict(
                predictor, model.getNDManager(), answers.inputs().get(input), answers.shapes());
    }

    private static Callable<Integer> predicting(ZooModel<NDList, NDList> model, Answers answers) {
        return () -> {
            int same = 0;
            try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
                for (int i = 0; i < PREDICTIONS; i++) {
                    int input = i % INPUTS;
                    List<ByteBuffer> outputs = predict(predictor, model, answers, input);
                    same += outputs.equals(answers.outputs().get(input)) ? 1 : 0;
                }
            }
            return same;
        };
    }

    @Test
    @Tag("long")
    void predict_twoModelsOnManyThreads_allAnswerAsStock() throws Exception {
        Path vgg = Budgeted.copy(BudgetModels.SMALL_VGG, folder);
        Path resnet = Budgeted.copy(BudgetModels.SMALL_RESNET, folder);
        Answers ofVgg = Answers.of(vgg, 1, INPUTS);
        Answers ofResNet = Answers.of(resnet, 2, INPUTS);
        try (ZooModel<NDList, NDList> one = Budgeted.load(vgg, Budgeted.third(vgg, 1), "mmap", 1);
                ZooModel<NDList, NDList> other =
                        Budgeted.load(resnet, Budgeted.third(resnet, 2), "direct", 2)) {
            List<Callable<Integer>> work = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                work.add(predicting(one, ofVgg));
                work.add(predicting(other, ofResNet));
            }
            for (Future<Integer> same : executor.invokeAll(work)) {
                assertEquals(PREDICTIONS, same.get());
            }
            for (ZooModel<NDList, NDList> model : List.of(one, other)) {
                PlanReport report = PlanReport.of(model).orElseThrow();
                assertEquals(THREADS * PREDICTIONS, report.predictions().total());
                assertEquals(0, report.predictions().unplanned());
            }
        }
    }

    @Test
    void setBudget_whileThreadsPredict_allAnswerAsStock() throws Exception {
        Path file = Budgeted.copy(BudgetModels.SMALL_VGG, folder);
        Answers answers = Answers.of(file, 1, INPUTS);
        try (ZooModel<NDList, NDList> model =
                Budgeted.load(file, Budgeted.third(file, 1), "mmap", 1)) {
            List<Future<Integer>> running = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                running.add(executor.submit(predicting(model, answers)));
            }
            PlanHandle handle = PlanHandle.of(model).orElseThrow();
            for (int percent = 70; percent <= 100; percent += 3) {
                handle.setBudget(percent + "%");
            }
            for (Future<Integer> same : running) {
                assertEquals(PREDICTIONS, same.get());
            }
        }
    }

    /** Running predictions end correctly or with an error; nothing crashes or remains. */
    @Test
    @Tag("long")
    void close_whileThreadsPredict_leavesNothing() throws Exception {
        Path file = Budgeted.copy(BudgetModels.SMALL_VGG, folder);
        Answers answers = Answers.of(file, 1, INPUTS);
        for (int round = 0; round < 3; round++) {
            ZooModel<NDList, NDList> model =
                    Budgeted.load(file, Budgeted.third(file, 1), "mmap", 1);
            CountDownLatch begun = new CountDownLatch(THREADS);
            List<Future<Integer>> running = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                running.add(executor.submit(() -> predictUntilClosed(model, answers, begun)));
            }
            begun.await();
            model.close();
            model.close();
            for (Future<Integer> wrong : running) {
                assertEquals(0, wrong.get());
            }
            Freed.assertEverything();
        }
    }

    private static int predictUntilClosed(
            ZooModel<NDList, NDList> model, Answers answers, CountDownLatch begun) {
        int wrong = 0;
        Predictor<NDList, NDList> predictor = model.newPredictor();
        try {
            while (true) {
                List<ByteBuffer> outputs = predict(predictor, model, answers, 0);
                wrong += outputs.equals(answers.outputs().get(0)) ? 0 : 1;
                begun.countDown();
            }
        } catch (TranslateException | IllegalStateException e) {
            assertTrue(begun.getCount() == 0, e.toString());
            return wrong;
        } finally {
            begun.countDown();
            predictor.close();
        }
    }
}
