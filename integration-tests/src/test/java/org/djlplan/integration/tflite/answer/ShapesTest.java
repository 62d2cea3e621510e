package org.djlplan.integration.tflite.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.djlplan.integration.contract.Threads;
import org.djlplan.integration.support.NeedsModels;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests inputs of shapes other than the file's: each shape gets a plan, and several plans are kept.
 */
@OnEveryDjl
class ShapesTest {

    static Stream<Arguments> realModels() {
        return Stream.of(
                Arguments.of(
                        RealModels.TFLITE.file("pnet"),
                        List.of(List.of(1, 120, 160, 3), List.of(1, 64, 64, 3))),
                Arguments.of(
                        RealModels.TFLITE.file("hand_landmark_lite"),
                        List.of(List.of(2, 224, 224, 3))));
    }

    @NeedsModels(RealModels.TFLITE)
    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("realModels")
    void predict_realModelWithOtherShapes_givesTheBytesOfABareInterpreterOfThatShape(
            Path file, List<List<Integer>> others) throws Exception {
        assertPlannedForEach(file, others);
    }

    private static void assertPlannedForEach(Path file, List<List<Integer>> others)
            throws Exception {
        try (ZooModel<NDList, NDList> model =
                Planned.load(file, Map.of("memplan.threads", 1, "memplan.workers", 4))) {
            for (int round = 0; round < 2; round++) {
                for (List<Integer> shape : others) {
                    assertSameAsStock(model, file, Optional.of(shape), round);
                }
            }
            PlanReport report = PlanReport.of(model).orElseThrow();
            assertEquals(0, report.predictions().unplanned());
            for (List<Integer> shape : others) {
                assertTrue(
                        report.interpreters().stream()
                                .anyMatch(
                                        i ->
                                                i.inputShapes().equals(List.of(shape))
                                                        && i.arenaBytes() > 0),
                        report.toString());
            }
        }
    }

    @Test
    void predict_moreShapesThanInterpretersAndPlans_staysPlannedAndRight() throws Exception {
        Path file = TestModels.built("fully_convolutional");
        try (ZooModel<NDList, NDList> model =
                Planned.load(file, Map.of("memplan.threads", 1, "memplan.workers", 1))) {
            for (int i = 0; i < 150; i++) {
                List<Integer> shape = List.of(1, 8 + i % 10, 8 + i / 10, 3);
                assertSameAsStock(model, file, Optional.of(shape), i);
                assertSameAsStock(model, file, Optional.empty(), i);
            }
            PlanReport report = PlanReport.of(model).orElseThrow();
            assertEquals(300, report.predictions().total());
            assertEquals(0, report.predictions().unplanned());
            assertEquals(1, report.interpreters().size());
            assertEquals(1, ArenaPool.shared().metric().arenas());
        }
    }

    /**
     * After small shapes, the memory of a large shape is released in the background, perhaps while
     * the next large prediction begins. Its memory must not be cleared.
     */
    @Test
    void predict_largeShapesBetweenManySmallOnes_staysRightWhileMemoryIsGivenBack()
            throws Exception {
        Path file = TestModels.built("fully_convolutional");
        List<List<Integer>> shapes =
                List.of(List.of(1, 400, 400, 3), List.of(1, 16, 16, 3), List.of(1, 24, 16, 3));
        List<List<ByteBuffer>> inputs = new ArrayList<>();
        List<List<ByteBuffer>> expected = new ArrayList<>();
        for (List<Integer> shape : shapes) {
            try (StockInterpreter stock = new StockInterpreter(file, 1)) {
                stock.resize(shape.stream().mapToInt(Integer::intValue).toArray());
                inputs.add(stock.randomInputs(7));
                expected.add(stock.run(inputs.get(inputs.size() - 1)));
            }
        }
        try (ZooModel<NDList, NDList> model =
                Planned.load(file, Map.of("memplan.threads", 1, "memplan.workers", 2))) {
            Threads.all(
                    3,
                    thread -> {
                        for (int i = 0; i < 1500; i++) {
                            int which = i % 75 < 2 ? 0 : 1 + i % 2;
                            assertEquals(
                                    expected.get(which),
                                    Planned.predict(
                                            model, inputs.get(which), List.of(shapes.get(which))));
                        }
                        return true;
                    });
        }
    }

    @Test
    void predict_impossibleShape_isAClearErrorAndTheModelContinues() throws Exception {
        Path file = TestModels.built("chains");
        try (ZooModel<NDList, NDList> model = Planned.load(file, Map.of("memplan.threads", 1))) {
            List<ByteBuffer> tooLarge = List.of(ByteBuffer.allocateDirect(4 * 16 * 16 * 8));
            Exception refused =
                    assertThrows(
                            Exception.class,
                            () -> Planned.predict(model, tooLarge, List.of(List.of(1, 16, 16, 8))));
            assertTrue(refused.toString().contains("TensorFlow Lite"), refused.toString());
            assertSameAsStock(model, file, Optional.empty(), 1);
        }
    }

    @Test
    void predict_bytesThatFitNoShape_isAClearError() throws Exception {
        Path file = TestModels.built("chains");
        try (ZooModel<NDList, NDList> model = Planned.load(file, Map.of("memplan.threads", 1))) {
            List<ByteBuffer> flat = List.of(ByteBuffer.allocateDirect(4 * 12));
            assertThrows(Exception.class, () -> Planned.predict(model, flat, List.of(List.of(12))));
            assertThrows(Exception.class, () -> Planned.predict(model, List.of(), List.of()));
            assertSameAsStock(model, file, Optional.empty(), 1);
        }
    }

    @Test
    void predict_shapeWithoutTheBatchOfOne_isTheFilesShape() throws Exception {
        Path file = TestModels.built("chains");
        try (StockInterpreter stock = new StockInterpreter(file, 1);
                ZooModel<NDList, NDList> model = Planned.load(file, Map.of("memplan.threads", 1))) {
            List<ByteBuffer> inputs = stock.randomInputs(4);
            assertEquals(
                    stock.run(inputs), Planned.predict(model, inputs, List.of(List.of(32, 32, 8))));
        }
    }

    private static void assertSameAsStock(
            ZooModel<NDList, NDList> model, Path file, Optional<List<Integer>> shape, long seed)
            throws Exception {
        try (StockInterpreter stock = new StockInterpreter(file, 1)) {
            shape.ifPresent(s -> stock.resize(s.stream().mapToInt(Integer::intValue).toArray()));
            List<ByteBuffer> inputs = stock.randomInputs(seed);
            assertEquals(
                    stock.run(inputs), Planned.predict(model, inputs, stock.shapes()), "" + shape);
        }
    }
}
