package org.djlplan.integration.torch.budget;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import ai.djl.translate.TranslateException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.BudgetRefusal;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.support.ProcessSize;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.SharedBudget;
import org.djlplan.memplan.report.BudgetReport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests predictions that need more than their model's budget: only these fail. */
@OnEveryDjlWhenLong
class TorchBudgetLimitTest {

    private static final long BUDGET = 64_000_000;

    /** The matrices of its attention alone have 60 × 4 × 512 × 512 numbers: 252 MB. */
    private static final ModelInputs LARGE = ModelInputs.floats(new long[] {60, 512, 32});

    private static final ModelInputs SMALL = ModelInputs.floats(new long[] {1, 16, 32});

    /** The engine allocates little beside a prediction that it refuses. */
    private static final long LITTLE_BYTES = 16_000_000;

    @TempDir Path folder;
    private Path file = Path.of("");

    @BeforeEach
    void copyModel() throws Exception {
        Torch.threads(1);
        file = Torch.copy(TorchScriptModels.named("attention"), folder);
    }

    private ZooModel<NDList, NDList> load(long budget) throws Exception {
        return Torch.load(file, Map.of("memplan.budget", Long.toString(budget)));
    }

    private static BudgetReport report(ZooModel<NDList, NDList> model) {
        return Torch.report(model).budget().orElseThrow();
    }

    /** Returns the smallest budget that the refusal of a prediction names. */
    private static long refuse(ZooModel<NDList, NDList> model, ModelInputs inputs) {
        TranslateException refused =
                assertThrows(TranslateException.class, () -> Torch.predict(model, inputs, 0));
        return BudgetRefusal.in(refused).leastBytes();
    }

    @Test
    void predict_twoBeyondTheBudgetFirst_onlyTheseFail() throws Exception {
        List<Output> expected = Torch.stock(file, SMALL, 1).get(0);
        List<Output> expectedLarge = Torch.stock(file, LARGE, 1).get(0);
        try (ZooModel<NDList, NDList> model = load(BUDGET)) {
            long least = refuse(model, LARGE);
            assertTrue(least > 200_000_000, "at least " + least);
            assertEquals(least, refuse(model, LARGE));
            for (int i = 0; i < 100; i++) {
                assertEquals(expected, Torch.predict(model, SMALL, 0));
            }
            assertTrue(report(model).attainable(), report(model).toString());
            assertTrue(report(model).leastBudgetBytes() < 32_000_000, report(model).toString());
            PlanHandle plan = PlanHandle.of(model).orElseThrow();
            plan.setBudget(2 * BUDGET);
            assertTrue(refuse(model, LARGE) >= least);
            plan.setBudget(2_000_000_000);
            assertEquals(expectedLarge, Torch.predict(model, LARGE, 0));
            plan.setBudget(BUDGET);
            assertEquals(least, refuse(model, LARGE));
            assertEquals(expected, Torch.predict(model, SMALL, 0));
            assertTrue(report(model).attainable(), report(model).toString());
        }
        Torch.assertNoArenas();
    }

    @Test
    void predict_beyondTheBudgetFirst_takesNoMoreThanTheBudget() throws Exception {
        try (ZooModel<NDList, NDList> model = load(BUDGET)) {
            ProcessSize.resetPeak();
            long before = ProcessSize.residentBytes();
            for (int i = 0; i < 3; i++) {
                assertTrue(refuse(model, LARGE) > BUDGET);
            }
            long grown = ProcessSize.peakBytes() - before;
            assertTrue(grown < BUDGET + LITTLE_BYTES, "by " + grown);
        }
    }

    /** The least that a report names is enough, and a byte less is not. */
    @Test
    void load_leastOfAReport_isEnoughAndExact() throws Exception {
        ModelInputs inputs = ModelInputs.floats(new long[] {2, 200, 32});
        List<Output> expected = Torch.stock(file, inputs, 1).get(0);
        long least;
        try (ZooModel<NDList, NDList> model = load(BUDGET)) {
            assertEquals(expected, Torch.predict(model, inputs, 0));
            least = report(model).leastBudgetBytes();
            for (int i = 0; i < 8; i++) {
                assertEquals(expected, Torch.predict(model, inputs, 0));
            }
            assertEquals(least, report(model).leastBudgetBytes());
        }
        try (ZooModel<NDList, NDList> model = load(least)) {
            for (int i = 0; i < 8; i++) {
                assertEquals(expected, Torch.predict(model, inputs, 0));
                assertEquals(least, report(model).leastBudgetBytes());
            }
        }
        try (ZooModel<NDList, NDList> model = load(least - 1)) {
            assertEquals(least, refuse(model, inputs));
            assertEquals(least, refuse(model, inputs));
        }
    }

    /** An output that is kept does not take room from later predictions. */
    @Test
    void predict_firstOutputIsKept_needsNoMoreThanBefore() throws Exception {
        ModelInputs inputs = ModelInputs.floats(new long[] {8, 200, 32});
        try (ZooModel<NDList, NDList> model = load(BUDGET);
                NDManager manager = NDManager.newBaseManager("PyTorch");
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            NDList kept = predictor.predict(inputs.create(manager, 0));
            long least = report(model).leastBudgetBytes();
            PlanHandle.of(model).orElseThrow().setBudget(least);
            List<Output> expected = Output.copyOf(kept);
            for (int i = 0; i < 4; i++) {
                assertEquals(expected, Torch.predict(model, inputs, 0));
            }
            assertEquals(expected, Output.copyOf(kept));
        }
    }

    private ZooModel<NDList, NDList> load(SharedBudget shared) throws Exception {
        return shared.load(
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optEngine("PyTorch")
                        .optModelPath(file)
                        .optTranslatorFactory(PlannedTranslatorFactory.wrap(new NoopTranslator()))
                        .build());
    }

    @Test
    void load_intoASharedBudgetAfterARefusal_isAsBefore() throws Exception {
        List<Output> expected = Torch.stock(file, SMALL, 1).get(0);
        SharedBudget shared = SharedBudget.of("70MB");
        try (ZooModel<NDList, NDList> first = load(shared)) {
            assertTrue(refuse(first, LARGE) > shared.bytes());
            assertTrue(report(first).leastBudgetBytes() < shared.bytes() / 2);
            try (ZooModel<NDList, NDList> second = load(shared)) {
                assertTrue(refuse(first, LARGE) > report(first).budgetBytes());
                assertTrue(refuse(second, LARGE) > report(second).budgetBytes());
                assertEquals(expected, Torch.predict(first, SMALL, 0));
                assertEquals(expected, Torch.predict(second, SMALL, 0));
            }
            assertDoesNotThrow(() -> load(shared).close());
        }
    }

    /** Runs in a JVM of its own, because the memory of the whole process is measured. */
    @Test
    void predict_eightThreadsInAndBeyondTheBudget_onlyThoseBeyondFail() throws Exception {
        serveMixed(400);
    }

    @Test
    @Tag("stress")
    void predict_eightThreadsForLong_onlyThoseBeyondFail() throws Exception {
        serveMixed(90_000);
    }

    private void serveMixed(int predictions) throws Exception {
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .options("-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch")
                        .options("-XX:+UseSerialGC")
                        .run(
                                MixedBudget.class,
                                file.toString(),
                                Long.toString(BUDGET),
                                Integer.toString(predictions));
        assertEquals(0, result.exitCode(), result.printed());
        System.out.print(result.out());
    }
}
