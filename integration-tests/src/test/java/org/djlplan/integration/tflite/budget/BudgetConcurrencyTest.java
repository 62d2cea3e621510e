package org.djlplan.integration.tflite.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.djlplan.integration.contract.Threads;
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

    @AfterEach
    void end() {
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

    private static boolean assertAnswers(ZooModel<NDList, NDList> model, Answers answers)
            throws TranslateException {
        try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
            for (int i = 0; i < PREDICTIONS; i++) {
                int input = i % INPUTS;
                assertEquals(
                        answers.outputs().get(input), predict(predictor, model, answers, input));
            }
        }
        return true;
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
            Threads.all(
                    2 * THREADS,
                    thread ->
                            thread % 2 == 0
                                    ? assertAnswers(one, ofVgg)
                                    : assertAnswers(other, ofResNet));
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
            PlanHandle handle = PlanHandle.of(model).orElseThrow();
            Callable<Boolean> changes =
                    () -> {
                        for (int percent = 70; percent <= 100; percent += 3) {
                            handle.setBudget(percent + "%");
                        }
                        return true;
                    };
            Threads.during(changes, THREADS, thread -> assertAnswers(model, answers));
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
            List<Integer> wrong =
                    Threads.all(
                            THREADS + 1,
                            thread -> {
                                if (thread < THREADS) {
                                    return predictUntilClosed(model, answers, begun);
                                }
                                begun.await();
                                model.close();
                                model.close();
                                return 0;
                            });
            assertEquals(Collections.nCopies(THREADS + 1, 0), wrong);
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
