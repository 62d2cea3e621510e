package org.djlplan.integration.tflite.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.djlplan.cli.demo.Activation;
import org.djlplan.cli.demo.LayerOutput;
import org.djlplan.cli.demo.NetworkBuilder;
import org.djlplan.integration.support.NeedsModels;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.errors.InputTooLargeException;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests inputs of shapes other than the file's: each shape gets a plan, and several plans are kept.
 */
@OnEveryDjl
class ShapesTest {

    @TempDir static Path folder;

    static Stream<Arguments> realModels() {
        return Stream.of(
                Arguments.of(
                        RealModels.TFLITE.file("pnet"),
                        List.of(List.of(1, 120, 160, 3), List.of(1, 64, 64, 3))),
                Arguments.of(
                        RealModels.TFLITE.file("hand_landmark_lite"),
                        List.of(List.of(2, 224, 224, 3))));
    }

    private static Path fullyConvolutional() throws Exception {
        NetworkBuilder network = new NetworkBuilder("fully convolutional", 1);
        LayerOutput x = network.input("input", 1, 32, 32, 3);
        x = network.conv2d(x, 8, 3, 2, Activation.RELU);
        LayerOutput y = network.unary("HARD_SWISH", network.conv2d(x, 8, 3, 1, Activation.NONE));
        y = network.add(x, y, Activation.RELU);
        Path file = folder.resolve("fully_convolutional.tflite");
        TfLiteWriter.write(
                network.output(network.conv2d(y, 4, 1, 1, Activation.NONE)).build(), file);
        return file;
    }

    @Test
    void predict_otherShapes_givesTheBytesOfABareInterpreterOfThatShape() throws Exception {
        assertPlannedForEach(
                fullyConvolutional(), List.of(List.of(1, 48, 80, 3), List.of(1, 96, 32, 3)));
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
    void maxRequest_shapeThatNeededMore_isRefusedFromThenOn() throws Exception {
        Path file = fullyConvolutional();
        List<Integer> large = List.of(1, 96, 96, 3);
        long needed;
        try (ZooModel<NDList, NDList> model = Planned.load(file, Map.of("memplan.threads", 1))) {
            assertSameAsStock(model, file, Optional.of(large), 0);
            assertSameAsStock(model, file, Optional.empty(), 0);
            PlanReport.Peak peak = PlanReport.of(model).orElseThrow().peak().orElseThrow();
            assertEquals(List.of(List.of(1L, 96L, 96L, 3L)), peak.inputShapes());
            needed = peak.predictionBytes();
        }
        try (ZooModel<NDList, NDList> model =
                Planned.load(
                        file,
                        Map.of("memplan.threads", 1, "memplan.maxRequest", needed - 1 + "B"))) {
            assertSameAsStock(model, file, Optional.of(large), 0);
            TranslateException refused =
                    assertThrows(
                            TranslateException.class,
                            () -> assertSameAsStock(model, file, Optional.of(large), 1));
            assertInstanceOf(InputTooLargeException.class, refused.getCause());
            assertTrue(
                    refused.getMessage()
                            .endsWith(
                                    "(1, 96, 96, 3) needed %d bytes, and memplan.maxRequest is %d"
                                            .formatted(needed, needed - 1)),
                    refused.getMessage());
            assertSameAsStock(model, file, Optional.empty(), 2);
        }
    }

    @Test
    void predict_moreShapesThanInterpreters_staysRight() throws Exception {
        Path file = fullyConvolutional();
        try (ZooModel<NDList, NDList> model =
                Planned.load(file, Map.of("memplan.threads", 1, "memplan.workers", 1))) {
            for (int size = 16; size < 96; size += 8) {
                assertSameAsStock(model, file, Optional.of(List.of(1, size, 48, 3)), size);
                assertSameAsStock(model, file, Optional.empty(), size);
            }
            assertEquals(1, PlanReport.of(model).orElseThrow().interpreters().size());
        }
    }

    /**
     * After small shapes, the memory of a large shape is released in the background, perhaps while
     * the next large prediction begins. Its memory must not be cleared.
     */
    @Test
    void predict_largeShapesBetweenManySmallOnes_staysRightWhileMemoryIsGivenBack()
            throws Exception {
        Path file = fullyConvolutional();
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
            Callable<Integer> caller =
                    () -> {
                        int wrong = 0;
                        for (int i = 0; i < 1500; i++) {
                            int which = i % 75 < 2 ? 0 : 1 + i % 2;
                            List<ByteBuffer> outputs =
                                    Planned.predict(
                                            model, inputs.get(which), List.of(shapes.get(which)));
                            wrong += outputs.equals(expected.get(which)) ? 0 : 1;
                        }
                        return wrong;
                    };
            ExecutorService pool = Executors.newFixedThreadPool(3);
            try {
                for (Future<Integer> wrong : pool.invokeAll(List.of(caller, caller, caller))) {
                    assertEquals(0, wrong.get());
                }
            } finally {
                pool.shutdownNow();
            }
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
