package org.djlplan.integration.tflite.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ModelException;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.djlplan.integration.support.BudgetModels;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.tflite.budget.Budgeted.Answers;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.base.Throwables;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests a budget that changes between predictions. */
class SetBudgetTest {

    private static final int INPUTS = 3;
    private static final int BUDGETS = 40;

    @TempDir Path folder;

    @Tag("long")
    @ParameterizedTest(name = "{0}, {1} threads, {2}")
    @CsvSource({"SMALL_RESNET, 2, direct", "SMALL_VGG, 2, mmap"})
    void setBudget_manyTimesInOtherWays_eachIsHeldAndAnswersAsStock(
            BudgetModels network, int threads, String io) throws Exception {
        setBudget_manyTimes_eachIsHeldAndAnswersAsStock(network, threads, io);
    }

    @ParameterizedTest(name = "{0}, {1} threads, {2}")
    @CsvSource("SMALL_RESNET, 1, mmap")
    @Tag("long")
    void setBudget_manyTimes_eachIsHeldAndAnswersAsStock(
            BudgetModels network, int threads, String io) throws Exception {
        Path file = Budgeted.copy(network, folder);
        Answers expected = Answers.of(file, threads, INPUTS);
        Random random = new Random(1);
        try (ZooModel<NDList, NDList> model =
                        Budgeted.load(file, Budgeted.third(file, threads), io, threads);
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            BudgetReport first = Budgeted.report(model);
            long least = first.leastBudgetBytes();
            long range = first.weightsBytes();
            int streamedCount = 0;
            for (int i = 0; i < BUDGETS; i++) {
                long budget = least + (long) (random.nextDouble() * range);
                PlanHandle.of(model).orElseThrow().setBudget(budget);
                assertEquals(
                        expected.outputs().get(i % INPUTS),
                        Planned.predict(
                                predictor,
                                model.getNDManager(),
                                expected.inputs().get(i % INPUTS),
                                expected.shapes()),
                        "budget of " + budget);
                BudgetReport held = Budgeted.report(model);
                assertEquals(budget, held.budgetBytes());
                assertTrue(held.arenaBytes() <= budget, held.toString());
                // A model is served whole if its budget has room for it.
                streamedCount += held.isWhole() ? 0 : 1;
            }
            assertTrue(streamedCount > BUDGETS / 4, "streamed only " + streamedCount);
        }
    }

    /** The engine's kernels need more memory than the file shows. */
    @Test
    void load_leastThatTheFileShows_isRefusedWithALeastThatSuffices() throws Exception {
        Path file = Budgeted.copy(BudgetModels.TINY_RESNET, folder);
        long ofFile = Budgeted.leastBytes(file, 1);
        long ofEngine = Budgeted.leastBytes(file, ofFile, 1);
        assertTrue(ofEngine > ofFile, "of " + ofEngine);
        Budgeted.load(file, Long.toString(ofEngine), "auto", 1).close();
    }

    @Test
    void setBudget_tooSmall_namesTheLeastAndKeepsTheFormer() throws Exception {
        Path file = Budgeted.copy(BudgetModels.SMALL_VGG, folder);
        Answers expected = Answers.of(file, 1, 1);
        try (ZooModel<NDList, NDList> model =
                Budgeted.load(file, Budgeted.third(file, 1), "auto", 1)) {
            PlanHandle handle = PlanHandle.of(model).orElseThrow();
            BudgetReport before = Budgeted.report(model);
            BudgetTooSmallException e =
                    assertThrows(BudgetTooSmallException.class, () -> handle.setBudget("100KB"));
            assertTrue(e.getMessage().contains("operator"), e.getMessage());
            assertEquals(before.budgetBytes(), Budgeted.report(model).budgetBytes());
            assertEquals(expected.outputs().get(0), predict(model, expected));

            handle.setBudget(e.leastBytes());
            assertEquals(e.leastBytes(), Budgeted.report(model).budgetBytes());
            assertEquals(expected.outputs().get(0), predict(model, expected));

            handle.setBudget("1GB");
            BudgetReport whole = Budgeted.report(model);
            assertTrue(whole.isWhole() && whole.attainable(), whole.toString());
            assertEquals(0, whole.bytesLoadedPerPrediction());
            assertEquals(Files.size(file), whole.pinnedBytes());
            assertEquals(before.leastBudgetBytes(), whole.leastBudgetBytes());
            assertEquals(expected.outputs().get(0), predict(model, expected));

            handle.setBudget("none");
            assertEquals(Optional.empty(), PlanReport.of(model).orElseThrow().budget());
            assertEquals(expected.outputs().get(0), predict(model, expected));
        }
    }

    @Test
    void load_tooSmallABudget_failsWithTheLeastAndTheOperator() throws Exception {
        Path file = Budgeted.copy(BudgetModels.SMALL_VGG, folder);
        ModelException e =
                assertThrows(
                        ModelException.class,
                        () -> Budgeted.load(file, "100KB", "auto", 1).close());
        Throwable cause = Throwables.getRootCause(e);
        assertInstanceOf(BudgetTooSmallException.class, cause);
        assertTrue(cause.getMessage().contains("operator"), cause.getMessage());
    }

    private static List<ByteBuffer> predict(ZooModel<NDList, NDList> model, Answers answers)
            throws Exception {
        return Planned.predict(model, answers.inputs().get(0), answers.shapes());
    }
}
