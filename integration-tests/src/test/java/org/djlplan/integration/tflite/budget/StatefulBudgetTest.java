package org.djlplan.integration.tflite.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ModelException;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.djlplan.integration.networks.OddModels;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.tflite.budget.Budgeted.Answers;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.thirdparty.guava.base.Throwables;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that a model in a budget never loses its state, which is in its interpreter. */
class StatefulBudgetTest {

    private static final int PREDICTIONS = 8;

    @TempDir Path folder;
    private Path file;

    /** The stock engine's outputs of consecutive predictions. */
    private Answers expected;

    @BeforeEach
    void writeModel() throws Exception {
        file = folder.resolve("model.tflite");
        TfLiteWriter.write(OddModels.stateful(), file);
        StockInterpreter.loadEngine();
        expected = Answers.of(file, 1, PREDICTIONS);
    }

    private List<ByteBuffer> predict(
            ZooModel<NDList, NDList> model, Predictor<NDList, NDList> predictor, int number)
            throws Exception {
        return Planned.predict(
                predictor, model.getNDManager(), expected.inputs().get(number), expected.shapes());
    }

    static Stream<TfLiteFile> models() {
        return Stream.of(OddModels.stateful(), OddModels.statefulBranches());
    }

    @ParameterizedTest
    @MethodSource("models")
    void load_budgetBelowTheWholeModel_failsBecauseOfItsState(TfLiteFile model) throws Exception {
        TfLiteWriter.write(model, file);
        ModelException e =
                assertThrows(
                        ModelException.class, () -> Budgeted.load(file, "1MB", "auto", 1).close());
        String message = Throwables.getRootCause(e).getMessage();
        assertTrue(message.contains("keeps state"), message);
    }

    @Test
    void setBudget_anyBetweenPredictions_keepsTheState() throws Exception {
        long least = Budgeted.leastBytes(file, 1);
        List<Long> budgets = List.of(least, 1L, least - 1, 1L << 30, least + 1, 1_000_000L, least);
        try (ZooModel<NDList, NDList> model = Budgeted.load(file, Long.toString(least), "auto", 1);
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            PlanHandle handle = PlanHandle.of(model).orElseThrow();
            assertEquals(least, Budgeted.report(model).leastBudgetBytes());
            assertEquals(expected.outputs().get(0), predict(model, predictor, 0));
            for (int i = 1; i < PREDICTIONS; i++) {
                long budget = budgets.get(i - 1);
                if (budget < least) {
                    BudgetTooSmallException e =
                            assertThrows(
                                    BudgetTooSmallException.class, () -> handle.setBudget(budget));
                    assertEquals(least, e.leastBytes());
                } else {
                    handle.setBudget(budget);
                    assertEquals(budget, Budgeted.report(model).budgetBytes());
                }
                assertEquals(
                        expected.outputs().get(i), predict(model, predictor, i), "after " + budget);
                assertTrue(Budgeted.report(model).isWhole(), "after " + budget);
            }
        }
    }

    @Test
    void load_tooSmallAtBestEffort_runsAsStockWithOneWarning() throws Exception {
        try (LogCapture log = LogCapture.echoing();
                ZooModel<NDList, NDList> model =
                        Planned.load(
                                file,
                                Map.of("memplan.budget", "1MB:best-effort", "memplan.threads", 1));
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            for (int i = 0; i < PREDICTIONS; i++) {
                assertEquals(expected.outputs().get(i), predict(model, predictor, i));
            }
            PlanReport report = PlanReport.of(model).orElseThrow();
            assertFalse(report.planned(), report.toString());
            assertEquals(1, log.ours("WARN").size(), log.ours("WARN").toString());
            assertTrue(log.ours("WARN").get(0).contains("keeps state"), log.ours("WARN").get(0));
        }
    }
}
