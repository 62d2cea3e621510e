package org.djlplan.integration.tflite.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ModelException;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.djlplan.integration.support.BudgetModels;
import org.djlplan.integration.support.Freed;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.tflite.budget.Budgeted.Answers;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.SharedBudget;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.base.Throwables;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests several models in one budget. */
class SharedBudgetTest {

    private static final int INPUTS = 3;

    @TempDir Path folder;

    private Criteria<NDList, NDList> criteria(Path file) {
        return Criteria.builder()
                .setTypes(NDList.class, NDList.class)
                .optEngine("TFLite")
                .optModelPath(file)
                .optArgument("delegation.enabled", "false")
                .optArgument("memplan.budget", "1KB")
                .optTranslatorFactory(
                        PlannedTranslatorFactory.wrap(new NoopTranslator(null))
                                .with("memplan.threads", 1))
                .build();
    }

    private Path copy(BudgetModels model) throws Exception {
        return Budgeted.copy(model, folder);
    }

    private static long budget(ZooModel<?, ?> model) {
        return PlanReport.of(model).orElseThrow().budget().orElseThrow().budgetBytes();
    }

    private static void assertAsStock(ZooModel<NDList, NDList> model, Answers expected)
            throws Exception {
        try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
            for (int i = 0; i < INPUTS; i++) {
                assertEquals(
                        expected.outputs().get(i),
                        Planned.predict(
                                predictor,
                                model.getNDManager(),
                                expected.inputs().get(i),
                                expected.shapes()));
            }
        }
    }

    @Test
    void load_several_shareItByTheirWeightsAndAnswerAsStock() throws Exception {
        Path resnet = copy(BudgetModels.SMALL_RESNET);
        Path vgg = copy(BudgetModels.SMALL_VGG);
        Answers ofResnet = Answers.of(resnet, 1, INPUTS);
        Answers ofVgg = Answers.of(vgg, 1, INPUTS);
        long least = Budgeted.leastBytes(resnet, 1) + Budgeted.leastBytes(vgg, 1);
        SharedBudget shared = SharedBudget.of(least * 3 / 2);
        try (ZooModel<NDList, NDList> first = shared.load(criteria(resnet))) {
            assertEquals(shared.bytes(), budget(first));
            assertAsStock(first, ofResnet);
            try (ZooModel<NDList, NDList> second = shared.load(criteria(vgg))) {
                long sum = budget(first) + budget(second);
                assertTrue(sum <= shared.bytes() && sum >= shared.bytes() - 2, "of " + sum);
                assertTrue(budget(first) >= Budgeted.report(first).leastBudgetBytes());
                assertTrue(budget(second) >= Budgeted.report(second).leastBudgetBytes());
                assertAsStock(first, ofResnet);
                assertAsStock(second, ofVgg);
            }
            assertEquals(shared.bytes(), budget(first));
            assertAsStock(first, ofResnet);
        }
        Freed.assertEverything();
    }

    @Test
    void load_noRoomForAll_failsAndOthersContinue() throws Exception {
        Path resnet = copy(BudgetModels.SMALL_RESNET);
        Path vgg = copy(BudgetModels.SMALL_VGG);
        Answers expected = Answers.of(resnet, 1, INPUTS);
        long least = Budgeted.leastBytes(resnet, 1) + Budgeted.leastBytes(vgg, 1);
        SharedBudget shared = SharedBudget.of(least * 9 / 10);
        try (ZooModel<NDList, NDList> first = shared.load(criteria(resnet))) {
            ModelException e =
                    assertThrows(ModelException.class, () -> shared.load(criteria(vgg)).close());
            assertTrue(
                    Throwables.getCausalChain(e).stream()
                            .anyMatch(BudgetTooSmallException.class::isInstance),
                    e.toString());
            assertTrue(e.getMessage().contains("shared budget"), e.getMessage());
            assertEquals(shared.bytes(), budget(first));
            assertAsStock(first, expected);
        }
        try (ZooModel<NDList, NDList> alone = shared.load(criteria(vgg))) {
            assertEquals(shared.bytes(), budget(alone));
        }
    }

    @Test
    void load_whileOthersPredict_predictionsAreUnaffected() throws Exception {
        Path resnet = copy(BudgetModels.SMALL_RESNET);
        Path vgg = copy(BudgetModels.SMALL_VGG);
        Answers expected = Answers.of(resnet, 1, INPUTS);
        long least = Budgeted.leastBytes(resnet, 1) + Budgeted.leastBytes(vgg, 1);
        SharedBudget shared = SharedBudget.of(least * 3 / 2);
        AtomicBoolean ends = new AtomicBoolean();
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try (ZooModel<NDList, NDList> first = shared.load(criteria(resnet))) {
            List<Future<Boolean>> busy = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                busy.add(
                        threads.submit(
                                () -> {
                                    while (!ends.get()) {
                                        assertAsStock(first, expected);
                                    }
                                    return true;
                                }));
            }
            for (int i = 0; i < 3; i++) {
                try (ZooModel<NDList, NDList> second = shared.load(criteria(vgg))) {
                    assertTrue(budget(first) + budget(second) <= shared.bytes());
                }
            }
            ends.set(true);
            for (Future<Boolean> each : busy) {
                assertTrue(each.get());
            }
        } finally {
            ends.set(true);
            threads.shutdown();
        }
    }

    @Test
    void load_withoutAPlannedFactory_isRefused() throws Exception {
        Path file = copy(BudgetModels.TINY_RESNET);
        Criteria<NDList, NDList> plain =
                Criteria.builder().setTypes(NDList.class, NDList.class).optModelPath(file).build();
        assertThrows(
                IllegalArgumentException.class, () -> SharedBudget.of("64MB").load(plain).close());
    }

    @Test
    void of_noSize_isRefused() {
        for (String text : List.of("", "none", "auto", "25%", "-1", "0")) {
            assertThrows(IllegalArgumentException.class, () -> SharedBudget.of(text), text);
        }
        assertEquals(64_000_000, SharedBudget.of("64MB").bytes());
    }

    @Test
    void load_criteriaAreUsedAgain_areAsBefore() throws Exception {
        Path file = copy(BudgetModels.SMALL_RESNET);
        Criteria<NDList, NDList> criteria = criteria(file);
        Map<String, ?> before = Map.copyOf(criteria.getArguments());
        SharedBudget shared = SharedBudget.of(Budgeted.leastBytes(file, 1) * 2);
        shared.load(criteria).close();
        assertEquals(before, criteria.getArguments());
    }

    private static Criteria<NDList, NDList> inProcess(
            Criteria<NDList, NDList> criteria, long bytes) {
        PlannedTranslatorFactory factory =
                (PlannedTranslatorFactory) criteria.getTranslatorFactory();
        return criteria.toBuilder()
                .optTranslatorFactory(factory.with("memplan.sharedBudget", bytes))
                .build();
    }

    @Test
    void get_budgetOfTheProcess_isSharedByAllThatNameIt() throws Exception {
        Path resnet = copy(BudgetModels.SMALL_RESNET);
        Path vgg = copy(BudgetModels.SMALL_VGG);
        Answers ofResnet = Answers.of(resnet, 1, INPUTS);
        Answers ofVgg = Answers.of(vgg, 1, INPUTS);
        long bytes = (Budgeted.leastBytes(resnet, 1) + Budgeted.leastBytes(vgg, 1)) * 3 / 2;
        Criteria<NDList, NDList> criteria = inProcess(criteria(resnet), bytes);
        System.setProperty("djlplan.memplan.sharedBudget", Long.toString(bytes));
        try (ZooModel<NDList, NDList> first = PlannedModels.acquire("resnet", criteria);
                ZooModel<NDList, NDList> second = PlannedModels.acquire("vgg", criteria(vgg))) {
            long sum = budget(first) + budget(second);
            assertTrue(sum <= bytes && sum >= bytes - 2, sum + " of " + bytes);
            assertAsStock(first, ofResnet);
            assertAsStock(second, ofVgg);
            IllegalArgumentException e =
                    assertThrows(
                            IllegalArgumentException.class,
                            () ->
                                    PlannedModels.acquire(
                                                    "other", inProcess(criteria(vgg), bytes * 2))
                                            .close());
            assertTrue(e.getMessage().startsWith("memplan.sharedBudget="), e.getMessage());
        } finally {
            System.clearProperty("djlplan.memplan.sharedBudget");
            closeUnused();
        }
        try (ZooModel<NDList, NDList> alone =
                PlannedModels.acquire("alone", inProcess(criteria(resnet), bytes * 2))) {
            assertEquals(bytes * 2, budget(alone));
        }
        closeUnused();
    }

    private static void closeUnused() {
        PlannedModels.closeUnused(Thread.currentThread().getContextClassLoader());
    }

    /** For example, jobs follow each other in one executor, and the first one's models are kept. */
    @Test
    void get_otherSizeWithFormerUnused_takesEffect() throws Exception {
        Path resnet = copy(BudgetModels.SMALL_RESNET);
        Answers expected = Answers.of(resnet, 1, INPUTS);
        long bytes = Budgeted.leastBytes(resnet, 1) * 2;
        try {
            PlannedModels.acquire("same", inProcess(criteria(resnet), bytes)).close();
            PlannedModels.acquire("other", inProcess(criteria(resnet), bytes)).close();
            for (long next : new long[] {bytes * 3 / 4, bytes * 2}) {
                try (ZooModel<NDList, NDList> model =
                        PlannedModels.acquire("same", inProcess(criteria(resnet), next))) {
                    assertEquals(next, budget(model));
                    assertAsStock(model, expected);
                }
            }
        } finally {
            closeUnused();
        }
        Freed.assertEverything();
    }

    @Test
    void get_anotherSizeWhileOneIsUsed_isRejected() throws Exception {
        Path resnet = copy(BudgetModels.SMALL_RESNET);
        Answers expected = Answers.of(resnet, 1, INPUTS);
        long bytes = Budgeted.leastBytes(resnet, 1) * 2;
        try (ZooModel<NDList, NDList> used =
                PlannedModels.acquire("used", inProcess(criteria(resnet), bytes))) {
            for (String key : List.of("used", "other")) {
                String message =
                        assertThrows(
                                        IllegalArgumentException.class,
                                        () ->
                                                PlannedModels.acquire(
                                                                key,
                                                                inProcess(
                                                                        criteria(resnet),
                                                                        bytes * 2))
                                                        .close())
                                .getMessage();
                assertEquals(
                        "memplan.sharedBudget=%d: [%s] share %d bytes; another size counts when they are closed"
                                .formatted(bytes * 2, used.getName(), bytes),
                        message);
            }
            assertEquals(bytes, budget(used));
            assertAsStock(used, expected);
        } finally {
            closeUnused();
        }
    }

    @Test
    void get_unusedModel_entersAndLeavesTheBudget() throws Exception {
        Path resnet = copy(BudgetModels.SMALL_RESNET);
        long bytes = Budgeted.leastBytes(resnet, 1) * 3 / 2;
        Criteria<NDList, NDList> outside = criteria(resnet);
        PlannedTranslatorFactory factory =
                ((PlannedTranslatorFactory) outside.getTranslatorFactory())
                        .with("memplan.budget", "none");
        outside = outside.toBuilder().optTranslatorFactory(factory).build();
        try {
            for (int i = 0; i < 2; i++) {
                try (ZooModel<NDList, NDList> model = PlannedModels.acquire("m", outside)) {
                    assertTrue(PlanReport.of(model).orElseThrow().budget().isEmpty());
                }
                try (ZooModel<NDList, NDList> model =
                        PlannedModels.acquire("m", inProcess(criteria(resnet), bytes))) {
                    assertEquals(bytes, budget(model));
                }
            }
        } finally {
            closeUnused();
        }
    }

    /** Unused models are kept for a minute unless other models need their memory. */
    @Test
    void get_roomHeldByUnusedModels_isFreed() throws Exception {
        Path resnet = copy(BudgetModels.SMALL_RESNET);
        Path vgg = copy(BudgetModels.SMALL_VGG);
        Answers expected = Answers.of(vgg, 1, INPUTS);
        long bytes = (Budgeted.leastBytes(resnet, 1) + Budgeted.leastBytes(vgg, 1)) * 9 / 10;
        SharedBudget shared = SharedBudget.of(bytes);
        try {
            PlannedModels.acquire("resnet", criteria(resnet), shared).close();
            try (ZooModel<NDList, NDList> model =
                    PlannedModels.acquire("vgg", criteria(vgg), shared)) {
                assertEquals(bytes, budget(model));
                assertAsStock(model, expected);
                assertThrows(
                        ModelException.class,
                        () -> PlannedModels.acquire("resnet", criteria(resnet), shared).close());
                assertAsStock(model, expected);
            }
            try (ZooModel<NDList, NDList> model =
                    PlannedModels.acquire("resnet", inProcess(criteria(resnet), bytes))) {
                assertEquals(bytes, budget(model));
            }
            try (ZooModel<NDList, NDList> model =
                    PlannedModels.acquire("vgg", inProcess(criteria(vgg), bytes))) {
                assertEquals(bytes, budget(model));
            }
        } finally {
            closeUnused();
        }
    }

    @Test
    void get_oneModelPerJvmInABudget_isLoadedOnce() throws Exception {
        Path file = copy(BudgetModels.SMALL_RESNET);
        SharedBudget shared = SharedBudget.of(Budgeted.leastBytes(file, 1) * 2);
        try (ZooModel<NDList, NDList> one = PlannedModels.acquire("m", criteria(file), shared);
                ZooModel<NDList, NDList> other =
                        PlannedModels.acquire("m", criteria(file), shared)) {
            assertNotSame(one, other);
            assertEquals(shared.bytes(), budget(one));
            assertEquals(shared.bytes(), budget(other));
        }
        closeUnused();
        try (ZooModel<NDList, NDList> next = shared.load(criteria(file))) {
            assertFalse(budget(next) < shared.bytes());
        }
    }
}
