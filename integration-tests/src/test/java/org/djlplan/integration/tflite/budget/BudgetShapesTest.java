package org.djlplan.integration.tflite.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.djlplan.integration.support.BudgetRefusal;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests inputs of shapes other than the file's inside a budget. */
class BudgetShapesTest {

    private static final List<Integer> IN_FILE = List.of(1, 32, 32, 8);
    private static final List<Integer> LARGER = List.of(1, 96, 64, 8);
    private static final List<Integer> BATCH = List.of(2, 32, 32, 8);
    private static final List<Integer> ENORMOUS = List.of(1, 2048, 2048, 8);

    @TempDir Path folder;

    private Path file;

    @BeforeEach
    void write() throws Exception {
        file = folder.resolve("model.tflite");
        Budgeted.writeConvolutional(file);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void predict_shapesBackAndForth_givesTheBytesOfStock(int threads) throws Exception {
        long least = Budgeted.leastBytes(file, threads);
        // The model is sliced again for each shape; a batch cannot be sliced.
        assertAllAsStock(least + 2_000_000, List.of(IN_FILE, LARGER, IN_FILE, LARGER), threads);
        assertAllAsStock(least + 7_000_000, List.of(IN_FILE, LARGER, BATCH, IN_FILE), threads);
    }

    /** Returns the copies from which weights are loaded. */
    private Set<Object> copies() throws IOException {
        Set<Object> inodes = new HashSet<>();
        try (Stream<Path> made = Files.list(file.resolveSibling(".djlplan"))) {
            for (Path each : made.filter(m -> m.toString().endsWith(".streamed.tflite")).toList()) {
                inodes.add(Files.getAttribute(each, "unix:ino"));
            }
        }
        return inodes;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void predict_twoShapesAlternate_writesEachCopyOnce(int threads) throws Exception {
        long least = Budgeted.leastBytes(file, threads);
        try (ZooModel<NDList, NDList> model =
                Budgeted.load(file, Long.toString(least + 2_000_000), "auto", threads)) {
            assertSameAsStock(model, IN_FILE, threads);
            assertSameAsStock(model, LARGER, threads);
            Set<Object> copies = copies();
            assertTrue(copies.size() > 1, copies.toString());
            for (List<Integer> shape : List.of(IN_FILE, LARGER, IN_FILE)) {
                assertSameAsStock(model, shape, threads);
                assertEquals(copies, copies());
            }
        }
    }

    private void assertAllAsStock(long budgetBytes, List<List<Integer>> shapes, int threads)
            throws Exception {
        try (ZooModel<NDList, NDList> model =
                Budgeted.load(file, Long.toString(budgetBytes), "auto", threads)) {
            for (List<Integer> shape : shapes) {
                assertSameAsStock(model, shape, threads);
                PlanReport report = PlanReport.of(model).orElseThrow();
                assertEquals(List.of(shape), report.interpreters().get(0).inputShapes());
                BudgetReport held = report.budget().orElseThrow();
                assertEquals(budgetBytes, held.budgetBytes());
                assertTrue(held.arenaBytes() <= budgetBytes, held.toString());
                assertTrue(held.bytesLoadedPerPrediction() > 0, held.toString());
            }
        }
    }

    @Test
    void predict_shapeTooLarge_namesTheLeastBudgetAndTheModelContinues() throws Exception {
        long least = Budgeted.leastBytes(file, 1);
        try (ZooModel<NDList, NDList> model =
                Budgeted.load(file, Long.toString(least), "auto", 1)) {
            assertSameAsStock(model, IN_FILE, 1);
            List<ByteBuffer> values = List.of(ByteBuffer.allocateDirect(4 * 2048 * 2048 * 8));
            TranslateException e =
                    assertThrows(
                            TranslateException.class,
                            () -> Planned.predict(model, values, List.of(ENORMOUS)));
            assertTrue(BudgetRefusal.in(e).leastBytes() > least, e::getMessage);
            assertSameAsStock(model, IN_FILE, 1);
        }
    }

    @Test
    @Tag("long")
    void setBudget_whileOtherShapesAreServed_servesBoth() throws Exception {
        long least = Budgeted.leastBytes(file, 1);
        try (ZooModel<NDList, NDList> model =
                Budgeted.load(file, Long.toString(least + 5_000_000), "auto", 1)) {
            assertSameAsStock(model, LARGER, 1);
            PlanHandle.of(model).orElseThrow().setBudget(least + 2_000_000);
            assertSameAsStock(model, LARGER, 1);
            assertSameAsStock(model, IN_FILE, 1);
            PlanHandle.of(model).orElseThrow().setBudget(least);
            assertSameAsStock(model, IN_FILE, 1);
        }
    }

    private void assertSameAsStock(ZooModel<NDList, NDList> model, List<Integer> shape, int threads)
            throws Exception {
        try (StockInterpreter stock = new StockInterpreter(file, threads)) {
            stock.resize(shape.stream().mapToInt(Integer::intValue).toArray());
            List<ByteBuffer> inputs = stock.randomInputs(1);
            assertEquals(
                    stock.run(inputs),
                    Planned.predict(model, inputs, stock.shapes()),
                    shape.toString());
        }
    }
}
