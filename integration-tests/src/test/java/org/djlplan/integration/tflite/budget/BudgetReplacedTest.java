package org.djlplan.integration.tflite.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.djlplan.integration.support.BudgetModels;
import org.djlplan.integration.support.ChangedWeights;
import org.djlplan.integration.support.Freed;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.SharedBudget;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests models whose file is replaced while they run in a budget, such as by a deployment. The
 * other file has the same structure, and other weights.
 */
class BudgetReplacedTest {

    private static final List<Integer> IN_FILE = List.of(1, 32, 32, 8);
    private static final List<Integer> LARGER = List.of(1, 96, 64, 8);
    private static final List<Integer> BATCH = List.of(2, 32, 32, 8);
    private static final long MUCH = 1_000_000_000;

    @TempDir Path folder;

    private Path file;
    private Path before;

    @BeforeEach
    void write() throws Exception {
        file = folder.resolve("model.tflite");
        Budgeted.writeConvolutional(file);
        before = Files.copy(file, folder.resolve("before.tflite"));
    }

    private void replace() throws Exception {
        ChangedWeights.change(file, 0.25, ChangedWeights.Way.REPLACED);
    }

    private void assertAsBefore(ZooModel<NDList, NDList> model, List<Integer> shape)
            throws Exception {
        try (StockInterpreter stock = new StockInterpreter(before, 1)) {
            stock.resize(shape.stream().mapToInt(Integer::intValue).toArray());
            List<ByteBuffer> inputs = stock.randomInputs(1);
            assertEquals(
                    stock.run(inputs),
                    Planned.predict(model, inputs, stock.shapes()),
                    shape.toString());
        }
    }

    private ZooModel<NDList, NDList> load(long budgetBytes) throws Exception {
        return Budgeted.load(file, Long.toString(budgetBytes), "auto", 1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void setBudget_streamedModelReplaced_servesTheLoadedWeights(boolean deleted) throws Exception {
        long least = Budgeted.leastBytes(file, 1);
        try (ZooModel<NDList, NDList> model = load(least + 5_000_000)) {
            assertAsBefore(model, IN_FILE);
            replace();
            if (deleted) {
                Files.delete(file);
            }
            PlanHandle plan = PlanHandle.of(model).orElseThrow();
            plan.setBudget(least);
            assertAsBefore(model, IN_FILE);
            plan.setBudget(least + 3_000_000);
            for (List<Integer> shape : List.of(LARGER, IN_FILE, LARGER)) {
                assertAsBefore(model, shape);
            }
            plan.setBudget(least + 7_000_000);
            assertAsBefore(model, BATCH);
        }
        Freed.assertEverything();
    }

    @Test
    void setBudget_roomForTheReplacedModel_isRefusedAndStreamsOn() throws Exception {
        long least = Budgeted.leastBytes(file, 1);
        try (ZooModel<NDList, NDList> model = load(least + 5_000_000)) {
            replace();
            PlanHandle plan = PlanHandle.of(model).orElseThrow();
            UncheckedIOException e =
                    assertThrows(UncheckedIOException.class, () -> plan.setBudget(MUCH));
            assertEquals(
                    file + " was replaced since it was loaded; load it again",
                    e.getCause().getMessage());
            assertFalse(Budgeted.report(model).isWhole());
            assertEquals(least + 5_000_000, Budgeted.report(model).budgetBytes());
            assertAsBefore(model, IN_FILE);
        }
    }

    @Test
    void setBudget_wholeModelReplaced_streamsTheLoadedWeights() throws Exception {
        long least = Budgeted.leastBytes(file, 1);
        try (ZooModel<NDList, NDList> model = load(MUCH)) {
            assertTrue(Budgeted.report(model).isWhole());
            assertAsBefore(model, IN_FILE);
            replace();
            PlanHandle.of(model).orElseThrow().setBudget(least);
            assertFalse(Budgeted.report(model).isWhole());
            assertAsBefore(model, IN_FILE);
        }
        Freed.assertEverything();
    }

    @Test
    void setBudget_modelReplacedByItsOwnContent_isSet() throws Exception {
        long least = Budgeted.leastBytes(file, 1);
        try (ZooModel<NDList, NDList> model = load(least + 5_000_000)) {
            Files.copy(before, file, StandardCopyOption.REPLACE_EXISTING);
            PlanHandle plan = PlanHandle.of(model).orElseThrow();
            for (long bytes : new long[] {least + 3_000_000, MUCH, least + 2_000_000}) {
                plan.setBudget(bytes);
                assertEquals(bytes, Budgeted.report(model).budgetBytes());
                assertAsBefore(model, LARGER);
            }
        }
        Freed.assertEverything();
    }

    private static Criteria<NDList, NDList> criteria(Path file) {
        return Criteria.builder()
                .setTypes(NDList.class, NDList.class)
                .optEngine("TFLite")
                .optModelPath(file)
                .optArgument("delegation.enabled", "false")
                .optTranslatorFactory(
                        PlannedTranslatorFactory.wrap(new NoopTranslator(null))
                                .with("memplan.threads", 1))
                .build();
    }

    @Test
    void load_memberOfASharedBudgetReplaced_neverServesTheOther() throws Exception {
        Path second = Budgeted.copy(BudgetModels.SMALL_RESNET, folder);
        long least = Budgeted.leastBytes(file, 1) + Budgeted.leastBytes(second, 1);
        SharedBudget shared = SharedBudget.of(least * 5 / 4);
        try (ZooModel<NDList, NDList> model = shared.load(criteria(file))) {
            assertAsBefore(model, IN_FILE);
            replace();
            assertTrue(Budgeted.report(model).isWhole());
            try (ZooModel<NDList, NDList> other = shared.load(criteria(second))) {
                assertFalse(Budgeted.report(model).isWhole());
                assertAsBefore(model, IN_FILE);
                assertAsBefore(model, LARGER);
                assertTrue(
                        Budgeted.report(model).budgetBytes() + Budgeted.report(other).budgetBytes()
                                <= shared.bytes());
            }
        }
        Freed.assertEverything();
    }
}
