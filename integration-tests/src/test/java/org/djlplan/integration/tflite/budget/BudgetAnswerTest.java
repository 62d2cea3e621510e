package org.djlplan.integration.tflite.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.djlplan.integration.support.BudgetModels;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.tflite.budget.Budgeted.Answers;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that a model in a budget gives the bytes of the stock engine with the same number of
 * threads.
 */
@OnEveryDjlWhenLong
class BudgetAnswerTest {

    private static final int INPUTS = 3;

    private static final ImmutableList<String> WAYS = ImmutableList.of("mmap", "direct", "cached");

    private static final ImmutableList<BudgetModels> MODELS =
            ImmutableList.of(
                    BudgetModels.SMALL_RESNET,
                    BudgetModels.SMALL_VGG,
                    BudgetModels.SMALL_VGG_F16,
                    BudgetModels.MOBILENET_V2_F16);

    @TempDir static Path folder;

    private static final Map<BudgetModels, Path> copies = new EnumMap<>(BudgetModels.class);

    /**
     * Returns the models, with one thread and with two in turn; the ways to read weights alternate,
     * too.
     */
    static List<Arguments> inTurn() {
        List<Arguments> cases = new ArrayList<>();
        for (int i = 0; i < MODELS.size(); i++) {
            cases.add(Arguments.of(MODELS.get(i), 1 + i % 2, WAYS.get(i % WAYS.size())));
        }
        return cases;
    }

    static List<Arguments> allOthers() {
        Set<List<Object>> inTurn =
                inTurn().stream().map(each -> List.of(each.get())).collect(Collectors.toSet());
        List<Arguments> cases = new ArrayList<>();
        for (BudgetModels model : MODELS) {
            for (int threads : new int[] {1, 2}) {
                for (String io : WAYS) {
                    if (!inTurn.contains(List.<Object>of(model, threads, io))) {
                        cases.add(Arguments.of(model, threads, io));
                    }
                }
            }
        }
        return cases;
    }

    @Tag("djl-current")
    @Tag("long")
    @ParameterizedTest(name = "{0}, {1} threads, {2}")
    @MethodSource("allOthers")
    void predict_inBudgetsInAnyWay_givesTheStockBytes(BudgetModels network, int threads, String io)
            throws Exception {
        predict_inBudgets_givesTheStockBytes(network, threads, io);
    }

    @ParameterizedTest(name = "{0}, {1} threads, {2}")
    @MethodSource("inTurn")
    void predict_inBudgets_givesTheStockBytes(BudgetModels network, int threads, String io)
            throws Exception {
        // Cases of one model share the stored files beside it.
        Path file = copies.get(network);
        if (file == null) {
            file = Budgeted.copy(network, folder);
            copies.put(network, file);
        }
        Answers expected = Answers.of(file, threads, INPUTS);
        long leastBytes = Budgeted.leastBytes(file, threads);
        for (double part : new double[] {0, 0.25, 0.5}) {
            long budgetBytes = leastBytes + (long) (part * bytesAsFloats(network));
            try (ZooModel<NDList, NDList> model =
                    Budgeted.load(file, Long.toString(budgetBytes), io, threads)) {
                assertAnswersAsStock(model, expected);
                BudgetReport held = Budgeted.report(model);
                assertEquals(budgetBytes, held.budgetBytes());
                assertTrue(held.attainable(), held.toString());
                assertTrue(held.arenaBytes() <= budgetBytes, held.toString());
                assertTrue(held.bytesLoadedPerPrediction() > 0, held.toString());
                assertEquals(io, held.io().toString());
            }
        }
    }

    private static long bytesAsFloats(BudgetModels network) throws IOException {
        long bytes = Files.size(network.file());
        return network.name().endsWith("_F16") ? 2 * bytes : bytes;
    }

    private static void assertAnswersAsStock(ZooModel<NDList, NDList> model, Answers expected)
            throws Exception {
        expected.assertAnsweredBy(model);
        PlanReport report = PlanReport.of(model).orElseThrow();
        assertTrue(report.planned(), report.toString());
        assertEquals(INPUTS, report.predictions().total());
        assertEquals(0, report.predictions().unplanned());
    }
}
