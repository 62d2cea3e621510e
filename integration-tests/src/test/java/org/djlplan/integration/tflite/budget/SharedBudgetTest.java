package org.djlplan.integration.tflite.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.ModelException;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import ai.djl.translate.TranslateException;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorFactory;
import ai.djl.util.Pair;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.djlplan.integration.contract.Threads;
import org.djlplan.integration.support.BudgetModels;
import org.djlplan.integration.support.BudgetRefusal;
import org.djlplan.integration.support.Freed;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.tflite.budget.Budgeted.Answers;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.SharedBudget;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.testing.Await;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests several models in one budget. */
class SharedBudgetTest {

    private static final int INPUTS = 3;

    private static Answers ofResnet;
    private static Answers ofVgg;
    private static long leastOfResnet;

    /** The least budget of both models. */
    private static long least;

    @TempDir Path folder;
    private Path resnet;
    private Path vgg;

    @BeforeAll
    static void findLeast(@TempDir Path own) throws Exception {
        Path one = Budgeted.copy(BudgetModels.SMALL_RESNET, own);
        Path other = Budgeted.copy(BudgetModels.SMALL_VGG, own);
        ofResnet = Answers.of(one, 1, INPUTS);
        ofVgg = Answers.of(other, 1, INPUTS);
        leastOfResnet = Budgeted.leastBytes(one, 1);
        least = leastOfResnet + Budgeted.leastBytes(other, 1);
    }

    @BeforeEach
    void copyModels() throws Exception {
        resnet = copy(BudgetModels.SMALL_RESNET);
        vgg = copy(BudgetModels.SMALL_VGG);
    }

    @AfterEach
    void everythingIsFreed() {
        closeUnused();
        Freed.assertEverything();
    }

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
            Await.until(() -> budget(first) == shared.bytes());
            assertAsStock(first, ofResnet);
        }
    }

    @Test
    void load_otherMemberWasGivenNoLimit_bothGetTheirShares() throws Exception {
        SharedBudget shared = SharedBudget.of(least * 3 / 2);
        try (ZooModel<NDList, NDList> first = shared.load(criteria(resnet))) {
            PlanHandle.of(first).orElseThrow().setBudget("none");
            assertTrue(PlanReport.of(first).orElseThrow().budget().isEmpty());
            try (ZooModel<NDList, NDList> second = shared.load(criteria(vgg))) {
                assertTrue(budget(first) + budget(second) <= shared.bytes());
                assertAsStock(first, ofResnet);
                assertAsStock(second, ofVgg);
            }
        }
    }

    @Test
    void load_noRoomForAll_failsAndOthersContinue() throws Exception {
        SharedBudget shared = SharedBudget.of(least * 9 / 10);
        try (ZooModel<NDList, NDList> first = shared.load(criteria(resnet))) {
            ModelException e =
                    assertThrows(ModelException.class, () -> shared.load(criteria(vgg)).close());
            assertTrue(BudgetRefusal.in(e).leastBytes() > 0);
            assertTrue(e.getMessage().contains("shared budget"), e.getMessage());
            assertEquals(shared.bytes(), budget(first));
            assertAsStock(first, ofResnet);
        }
        try (ZooModel<NDList, NDList> alone = shared.load(criteria(vgg))) {
            assertEquals(shared.bytes(), budget(alone));
        }
    }

    @Test
    void load_whileOthersPredict_predictionsAreUnaffected() throws Exception {
        SharedBudget shared = SharedBudget.of(least * 3 / 2);
        try (ZooModel<NDList, NDList> first = shared.load(criteria(resnet))) {
            Callable<Boolean> loads =
                    () -> {
                        for (int i = 0; i < 3; i++) {
                            try (ZooModel<NDList, NDList> second = shared.load(criteria(vgg))) {
                                assertTrue(budget(first) + budget(second) <= shared.bytes());
                            }
                        }
                        return true;
                    };
            Threads.during(
                    loads,
                    2,
                    thread -> {
                        assertAsStock(first, ofResnet);
                        return true;
                    });
        }
    }

    /** What a translator factory does while its model is loaded. */
    @FunctionalInterface
    private interface WhileLoading {

        void run() throws Exception;
    }

    private Criteria<NDList, NDList> criteria(Path file, WhileLoading action) {
        TranslatorFactory translators =
                new TranslatorFactory() {
                    @Override
                    public Set<Pair<Type, Type>> getSupportedTypes() {
                        return Set.of(new Pair<>(NDList.class, NDList.class));
                    }

                    @Override
                    @SuppressWarnings("unchecked") // there are no other types
                    public <I, O> Translator<I, O> newInstance(
                            Class<I> input, Class<O> output, Model model, Map<String, ?> arguments)
                            throws TranslateException {
                        try {
                            action.run();
                        } catch (Exception e) {
                            throw new TranslateException(e);
                        }
                        return (Translator<I, O>) new NoopTranslator(null);
                    }
                };
        return criteria(file).toBuilder()
                .optTranslatorFactory(
                        PlannedTranslatorFactory.wrap(translators).with("memplan.threads", 1))
                .build();
    }

    /**
     * The first model is streamed in half of the budget while the second one is loaded. Then its
     * share has room for all of it again, but its file is gone.
     */
    @Test
    void load_otherModelCannotGetItsShare_warnsAndBothServe() throws Exception {
        SharedBudget shared = SharedBudget.of(3 * Files.size(vgg));
        try (ZooModel<NDList, NDList> first = shared.load(criteria(vgg))) {
            assertTrue(Budgeted.report(first).isWhole());
            List<String> warnings;
            ZooModel<NDList, NDList> loaded;
            try (LogCapture log = LogCapture.echoing()) {
                loaded = shared.load(criteria(resnet, () -> Files.delete(vgg)));
                warnings = log.ours("WARN");
            }
            try (ZooModel<NDList, NDList> second = loaded) {
                assertEquals(1, warnings.size(), warnings.toString());
                assertTrue(warnings.get(0).contains("budgets are unchanged: "), warnings.get(0));
                assertTrue(warnings.get(0).contains(vgg.toString()), warnings.get(0));
                assertFalse(Budgeted.report(first).isWhole());
                assertTrue(budget(first) + budget(second) <= shared.bytes());
                assertAsStock(first, ofVgg);
                assertAsStock(second, ofResnet);
            }
        }
    }

    /** Reports a missing class to the first who reads it. */
    private static final class WithMissingClass extends NDList {

        private static final long serialVersionUID = 1L;

        private boolean read;

        WithMissingClass(NDList arrays) {
            super(arrays);
        }

        @Override
        public NDArray get(int index) {
            if (!read) {
                read = true;
                throw new NoClassDefFoundError("Missing");
            }
            return super.get(index);
        }
    }

    private static void leaveToTheEngine(ZooModel<NDList, NDList> model, Answers answers)
            throws Exception {
        try (Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            NDList inputs = Planned.inputs(manager, answers.inputs().get(0), answers.shapes());
            assertEquals(1, predictor.predict(new WithMissingClass(inputs)).size());
        }
        assertEquals(
                Optional.of("a class is missing"),
                PlanReport.of(model).orElseThrow().unplannedReason());
    }

    @Test
    void load_otherModelWasLeftToTheEngine_hasTheBudgetAlone() throws Exception {
        SharedBudget shared = SharedBudget.of(least * 3 / 2);
        try (ZooModel<NDList, NDList> first = shared.load(criteria(resnet))) {
            leaveToTheEngine(first, ofResnet);
            PlanHandle handle = PlanHandle.of(first).orElseThrow();
            assertEquals(
                    "runs as stock: a class is missing",
                    assertThrows(IllegalStateException.class, () -> handle.setBudget("1GB"))
                            .getMessage());
            try (ZooModel<NDList, NDList> second = shared.load(criteria(vgg))) {
                assertEquals(shared.bytes(), budget(second));
                assertAsStock(second, ofVgg);
            }
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
        Criteria<NDList, NDList> criteria = criteria(resnet);
        Map<String, ?> before = Map.copyOf(criteria.getArguments());
        SharedBudget shared = SharedBudget.of(leastOfResnet * 2);
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
        long bytes = least * 3 / 2;
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
    }

    private static void closeUnused() {
        PlannedModels.closeUnused(Thread.currentThread().getContextClassLoader());
    }

    /** For example, jobs follow each other in one executor, and the first one's models are kept. */
    @Test
    void get_otherSizeWithFormerUnused_takesEffect() throws Exception {
        long bytes = leastOfResnet * 2;
        PlannedModels.acquire("same", inProcess(criteria(resnet), bytes)).close();
        PlannedModels.acquire("other", inProcess(criteria(resnet), bytes)).close();
        for (long next : new long[] {bytes * 3 / 4, bytes * 2}) {
            try (ZooModel<NDList, NDList> model =
                    PlannedModels.acquire("same", inProcess(criteria(resnet), next))) {
                assertEquals(next, budget(model));
                assertAsStock(model, ofResnet);
            }
        }
    }

    @Test
    void get_anotherSizeWhileOneIsUsed_isRejected() throws Exception {
        long bytes = leastOfResnet * 2;
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
            assertAsStock(used, ofResnet);
        }
    }

    @Test
    void get_unusedModel_entersAndLeavesTheBudget() throws Exception {
        long bytes = leastOfResnet * 3 / 2;
        Criteria<NDList, NDList> outside = criteria(resnet);
        PlannedTranslatorFactory factory =
                ((PlannedTranslatorFactory) outside.getTranslatorFactory())
                        .with("memplan.budget", "none");
        outside = outside.toBuilder().optTranslatorFactory(factory).build();
        for (int i = 0; i < 2; i++) {
            try (ZooModel<NDList, NDList> model = PlannedModels.acquire("m", outside)) {
                assertTrue(PlanReport.of(model).orElseThrow().budget().isEmpty());
            }
            try (ZooModel<NDList, NDList> model =
                    PlannedModels.acquire("m", inProcess(criteria(resnet), bytes))) {
                assertEquals(bytes, budget(model));
            }
        }
    }

    /** Unused models are kept for a minute unless other models need their memory. */
    @Test
    void get_roomHeldByUnusedModels_isFreed() throws Exception {
        long bytes = least * 9 / 10;
        SharedBudget shared = SharedBudget.of(bytes);
        PlannedModels.acquire("resnet", criteria(resnet), shared).close();
        try (ZooModel<NDList, NDList> model = PlannedModels.acquire("vgg", criteria(vgg), shared)) {
            assertEquals(bytes, budget(model));
            assertAsStock(model, ofVgg);
            assertThrows(
                    ModelException.class,
                    () -> PlannedModels.acquire("resnet", criteria(resnet), shared).close());
            assertAsStock(model, ofVgg);
        }
        try (ZooModel<NDList, NDList> model =
                PlannedModels.acquire("resnet", inProcess(criteria(resnet), bytes))) {
            assertEquals(bytes, budget(model));
        }
        try (ZooModel<NDList, NDList> model =
                PlannedModels.acquire("vgg", inProcess(criteria(vgg), bytes))) {
            assertEquals(bytes, budget(model));
        }
    }

    /** Such as a pipeline of two models. */
    @Test
    void get_factoryAcquiresAModelThatAnotherThreadLoads_getsIt() throws Exception {
        SharedBudget shared = SharedBudget.of(leastOfResnet * 3);
        Callable<Long> inner =
                () -> {
                    try (ZooModel<NDList, NDList> model =
                            PlannedModels.acquire("inner", criteria(resnet), shared)) {
                        return budget(model);
                    }
                };
        FutureTask<Long> other = new FutureTask<>(inner);
        Thread thread = new Thread(other, "other");
        Criteria<NDList, NDList> outer =
                criteria(
                        resnet,
                        () -> {
                            thread.start();
                            Await.until(() -> thread.getState() == Thread.State.BLOCKED);
                            assertTrue(inner.call() > 0);
                        });
        assertTimeoutPreemptively(
                Duration.ofMinutes(1), () -> PlannedModels.acquire("outer", outer, shared).close());
        assertTrue(other.get() > 0);
    }

    @Test
    void get_oneModelPerJvmInABudget_isLoadedOnce() throws Exception {
        SharedBudget shared = SharedBudget.of(leastOfResnet * 2);
        try (ZooModel<NDList, NDList> one = PlannedModels.acquire("m", criteria(resnet), shared);
                ZooModel<NDList, NDList> other =
                        PlannedModels.acquire("m", criteria(resnet), shared)) {
            assertNotSame(one, other);
            assertEquals(shared.bytes(), budget(one));
            assertEquals(shared.bytes(), budget(other));
        }
        closeUnused();
        try (ZooModel<NDList, NDList> next = shared.load(criteria(resnet))) {
            assertFalse(budget(next) < shared.bytes());
        }
    }
}
