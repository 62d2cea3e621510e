package org.djlplan.integration.tflite.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ModelException;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.djlplan.integration.contract.Threads;
import org.djlplan.integration.support.BudgetModels;
import org.djlplan.integration.support.BudgetRefusal;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.tflite.budget.Budgeted.Answers;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.SharedBudget;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.testing.Await;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.Test;

/** Tests several models in one budget. */
class SharedBudgetTest extends SharedBudgetTests {

    @Test
    void load_several_shareItByTheirWeightsAndAnswerAsStock() throws Exception {
        SharedBudget shared = SharedBudget.of(least * 3 / 2);
        try (ZooModel<NDList, NDList> first = shared.load(criteria(resnet))) {
            assertEquals(shared.bytes(), budget(first));
            ofResnet.assertAnsweredBy(first);
            try (ZooModel<NDList, NDList> second = shared.load(criteria(vgg))) {
                long sum = budget(first) + budget(second);
                assertTrue(sum <= shared.bytes() && sum >= shared.bytes() - 2, "of " + sum);
                assertTrue(budget(first) >= Budgeted.report(first).leastBudgetBytes());
                assertTrue(budget(second) >= Budgeted.report(second).leastBudgetBytes());
                ofResnet.assertAnsweredBy(first);
                ofVgg.assertAnsweredBy(second);
            }
            Await.until(() -> budget(first) == shared.bytes());
            ofResnet.assertAnsweredBy(first);
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
                ofResnet.assertAnsweredBy(first);
                ofVgg.assertAnsweredBy(second);
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
            ofResnet.assertAnsweredBy(first);
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
                        ofResnet.assertAnsweredBy(first);
                        return true;
                    });
        }
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
                ofVgg.assertAnsweredBy(first);
                ofResnet.assertAnsweredBy(second);
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
                ofVgg.assertAnsweredBy(second);
            }
        }
    }

    @Test
    void load_withoutAPlannedFactory_isRefused() throws Exception {
        Path file = Budgeted.copy(BudgetModels.TINY_RESNET, folder);
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
}
