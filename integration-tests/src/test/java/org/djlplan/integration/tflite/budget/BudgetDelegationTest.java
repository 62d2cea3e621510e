package org.djlplan.integration.tflite.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ModelException;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.djlplan.integration.support.BudgetModels;
import org.djlplan.integration.support.Near;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.tflite.budget.Budgeted.Answers;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests models inside a budget that delegate the operators that XNNPACK makes faster. */
class BudgetDelegationTest {

    private static final int INPUTS = 5;

    /** The smallest limit of the acceptance rule for delegated outputs. */
    private static final double LIMIT = 1e-4;

    /**
     * Several loads, because operators are delegated only if that was faster in a trial, which
     * other work may disturb.
     */
    private static final int LOADS = 8;

    private static final Map<String, String> BLOCKING = Map.of("delegation.profile", "blocking");

    /** Time limit for a selection. */
    private static final Duration LONGEST = Duration.ofSeconds(15);

    private static final long MORE_BYTES = 36_000_000;

    @TempDir Path folder;

    private static ZooModel<NDList, NDList> load(
            Path file, String budget, int threads, Map<String, String> delegation)
            throws IOException, ModelException {
        Map<String, Object> options = new TreeMap<>(delegation);
        options.put("memplan.budget", budget);
        options.put("memplan.threads", threads);
        return Planned.load(file, options);
    }

    private static ZooModel<NDList, NDList> loadDelegating(Path file, String budget, int threads)
            throws IOException, ModelException {
        for (int i = 1; ; i++) {
            ZooModel<NDList, NDList> model = load(file, budget, threads, BLOCKING);
            if (Budgeted.report(model).delegatedOperators() > 0 || i == LOADS) {
                return model;
            }
            model.close();
        }
    }

    private static void assertNear(ZooModel<NDList, NDList> model, Answers expected)
            throws Exception {
        for (int i = 0; i < INPUTS; i++) {
            List<ByteBuffer> outputs =
                    Planned.predict(model, expected.inputs().get(i), expected.shapes());
            for (int output = 0; output < outputs.size(); output++) {
                double error =
                        Near.relativeError(
                                outputs.get(output), expected.outputs().get(i).get(output));
                assertTrue(error <= LIMIT, "input " + i + ": " + error);
            }
        }
    }

    private static void assertStock(ZooModel<NDList, NDList> model, Answers expected)
            throws Exception {
        for (int i = 0; i < INPUTS; i++) {
            assertEquals(
                    expected.outputs().get(i),
                    Planned.predict(model, expected.inputs().get(i), expected.shapes()));
        }
    }

    @ParameterizedTest(name = "{0}, {1} threads, the least budget and {2} bytes")
    @CsvSource({"SMALL_RESNET, 1, 26000000", "SMALL_RESNET_F16, 1, 26000000"})
    void predict_withPartsDelegated_answersWithinTheRule(
            BudgetModels network, int threads, long moreBytes) throws Exception {
        Path file = Budgeted.copy(network, folder);
        long budgetBytes = Budgeted.leastBytes(file, threads) + moreBytes;
        Answers expected = Answers.of(file, threads, INPUTS);
        try (ZooModel<NDList, NDList> model =
                loadDelegating(file, Long.toString(budgetBytes), threads)) {
            BudgetReport report = Budgeted.report(model);
            assertTrue(report.delegatedOperators() > 0, report.toString());
            assertTrue(report.delegatedBytes() > 0, report.toString());
            assertTrue(
                    report.arenaBytes() + report.delegatedBytes() <= budgetBytes,
                    report.toString());
            assertNear(model, expected);
        }
    }

    /**
     * Perhaps nothing is delegated: a VGG network spends most of its time on loading weights, which
     * is no faster with a delegate, and on a busy machine a delegate's threads wait for each other.
     */
    @ParameterizedTest(name = "{0}, {1} threads, the least budget and {2} bytes")
    @CsvSource({
        "SMALL_VGG, 1, 16000000",
        "SMALL_VGG_F16, 1, 16000000",
        "SMALL_RESNET, 2, 14000000",
        "SMALL_VGG, 2, 15000000"
    })
    void predict_perhapsDelegated_answersWithinTheRule(
            BudgetModels network, int threads, long moreBytes) throws Exception {
        Path file = Budgeted.copy(network, folder);
        long budgetBytes = Budgeted.leastBytes(file, threads) + moreBytes;
        Answers expected = Answers.of(file, threads, INPUTS);
        try (ZooModel<NDList, NDList> model =
                load(file, Long.toString(budgetBytes), threads, BLOCKING)) {
            BudgetReport report = Budgeted.report(model);
            assertTrue(
                    report.arenaBytes() + report.delegatedBytes() <= budgetBytes,
                    report.toString());
            assertNear(model, expected);
        }
    }

    /** The copy no longer has filters, and the model itself has none of 32 bits. */
    @Test
    void predict_filtersThatAreNowhere_stayInCpuKernels() throws Exception {
        Path file = Budgeted.copy(BudgetModels.SMALL_VGG_F16, folder);
        Answers expected = Answers.of(file, 2, INPUTS);
        try (ZooModel<NDList, NDList> model = load(file, "36MB", 2, BLOCKING)) {
            assertNear(model, expected);
        }
    }

    @ParameterizedTest(name = "{0}={1}")
    @CsvSource({
        "delegation.enabled, false",
        "delegation.profile, off",
        "delegation.exclude, type:CONV_2D",
        "delegation.objective, memory",
        "delegation.tolerance, 0"
    })
    void load_notToBeDelegated_answersAsStock(String key, String value) throws Exception {
        Path file = Budgeted.copy(BudgetModels.SMALL_RESNET, folder);
        Answers expected = Answers.of(file, 1, INPUTS);
        try (ZooModel<NDList, NDList> model = load(file, "30MB", 1, Map.of(key, value))) {
            assertEquals(0, Budgeted.report(model).delegatedOperators());
            assertEquals(0, Budgeted.report(model).delegatedBytes());
            assertStock(model, expected);
        }
    }

    @Test
    void setBudget_downAndUpAgain_delegatesFittingOperators() throws Exception {
        Path file = Budgeted.copy(BudgetModels.SMALL_RESNET, folder);
        Answers expected = Answers.of(file, 1, INPUTS);
        boolean again = false;
        for (int i = 0; !again && i < LOADS; i++) {
            again = delegatesAgain(file, expected);
        }
        assertTrue(again);
    }

    /**
     * Returns whether operators are delegated again after the budget was at its minimum for a
     * while.
     */
    private static boolean delegatesAgain(Path file, Answers expected) throws Exception {
        try (ZooModel<NDList, NDList> model = loadDelegating(file, Long.toString(MORE_BYTES), 1)) {
            PlanHandle handle = PlanHandle.of(model).orElseThrow();
            long leastBytes = Budgeted.leastBytes(file, 1);
            handle.setBudget(leastBytes);
            BudgetReport least = Budgeted.report(model);
            assertEquals(leastBytes, least.budgetBytes());
            assertTrue(least.arenaBytes() + least.delegatedBytes() <= leastBytes, least.toString());
            assertNear(model, expected);
            handle.setBudget(MORE_BYTES);
            assertEquals(MORE_BYTES, Budgeted.report(model).budgetBytes());
            assertNear(model, expected);
            // Operators are selected again when there are no predictions for a while.
            boolean again =
                    Await.within(LONGEST, () -> Budgeted.report(model).delegatedOperators() > 0);
            assertNear(model, expected);
            return again;
        }
    }
}
