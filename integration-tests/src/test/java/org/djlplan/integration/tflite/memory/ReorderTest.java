package org.djlplan.integration.tflite.memory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.djlplan.integration.networks.OddModels;
import org.djlplan.integration.networks.ParallelBottlenecks;
import org.djlplan.integration.support.Freed;
import org.djlplan.integration.support.NeedsModels;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.integration.support.Tolerance;
import org.djlplan.memplan.planning.order.OrderedModel;
import org.djlplan.memplan.planning.order.Reordering;
import org.djlplan.memplan.report.OrderReport;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.source.tflite.TfLiteFile;
import org.djlplan.memplan.source.tflite.TfLiteReader;
import org.djlplan.memplan.source.tflite.TfLiteWriter;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Models in another order: smaller, the same bytes, and never run from a copy that is damaged. */
class ReorderTest {

    private static final int INPUTS = 5;
    private static final Map<String, Object> REORDERED =
            Map.of("memplan.reorder", true, "memplan.threads", 1);

    @TempDir private Path folder;
    private Path file;

    @BeforeAll
    static void loadEngine() {
        StockInterpreter.loadEngine();
    }

    @BeforeEach
    void writeModel() throws Exception {
        file = write(ParallelBottlenecks.build(1));
    }

    @AfterEach
    void everythingIsFreed() {
        Freed.assertEverything();
    }

    private Path write(TfLiteFile model) throws Exception {
        Path target = folder.resolve("model.tflite");
        TfLiteWriter.write(model, target);
        return target;
    }

    private static PlanReport predictAsStock(Path model, Map<String, ?> arguments, int threads)
            throws Exception {
        try (StockInterpreter stock = new StockInterpreter(model, threads);
                ZooModel<NDList, NDList> loaded = Planned.load(model, arguments);
                Predictor<NDList, NDList> predictor = loaded.newPredictor()) {
            for (int seed = 0; seed < INPUTS; seed++) {
                List<ByteBuffer> inputs = stock.randomInputs(seed);
                assertEquals(
                        stock.run(inputs),
                        Planned.predict(predictor, loaded.getNDManager(), inputs, stock.shapes()),
                        model + ", input " + seed);
            }
            PlanReport report = PlanReport.of(loaded).orElseThrow();
            assertTrue(report.planned(), report.toString());
            assertEquals(0, report.predictions().unplanned());
            return report;
        }
    }

    private List<Path> copies() throws Exception {
        try (Stream<Path> files = Files.list(folder.resolve(".djlplan"))) {
            return files.filter(each -> each.toString().endsWith(".tflite")).toList();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void load_branchesBreadthFirst_needsAThirdLessAtLeast(int threads) throws Exception {
        PlanReport plain = predictAsStock(file, Map.of("memplan.threads", threads), threads);
        assertTrue(plain.order().isEmpty());
        PlanReport reordered =
                predictAsStock(
                        file, Map.of("memplan.threads", threads, "memplan.reorder", true), threads);
        OrderReport order = reordered.order().orElseThrow();
        assertTrue(order.adopted() && order.minimal(), order.toString());
        assertEquals(plain.plan().arenaBytes(), order.arenaBeforeBytes());
        assertEquals(reordered.plan().arenaBytes(), order.arenaAfterBytes());
        assertEquals(plain.plan().lowerBoundBytes(), order.breadthBeforeBytes());
        assertEquals(reordered.plan().lowerBoundBytes(), order.breadthAfterBytes());
        double ratio = (double) plain.plan().arenaBytes() / reordered.plan().arenaBytes();
        assertTrue(ratio >= 1.3, "arena before / after: " + ratio);
        assertEquals(1, copies().size());
    }

    @ParameterizedTest(name = "{0}, {1} threads")
    @MethodSource(TestModels.BUILT_ON_ONE_AND_TWO_THREADS)
    void predict_anyModel_givesTheStockBytes(Path model, int threads) throws Exception {
        assertGivesTheStockBytes(model, threads);
    }

    @NeedsModels(RealModels.TFLITE)
    @ParameterizedTest(name = "{0}, {1} threads")
    @MethodSource(TestModels.REAL_ON_ONE_AND_TWO_THREADS)
    void predict_realModel_givesTheStockBytes(Path model, int threads) throws Exception {
        assertGivesTheStockBytes(model, threads);
    }

    private static void assertGivesTheStockBytes(Path model, int threads) throws Exception {
        PlanReport report =
                predictAsStock(
                        model,
                        Map.of("memplan.reorder", true, "memplan.threads", threads),
                        threads);
        OrderReport order = report.order().orElseThrow();
        assertTrue(order.breadthAfterBytes() <= order.breadthBeforeBytes());
        assertEquals(order.adopted(), order.arenaAfterBytes() < order.arenaBeforeBytes());
        assertEquals(
                order.adopted() ? order.arenaAfterBytes() : order.arenaBeforeBytes(),
                report.plan().arenaBytes());
    }

    static Stream<TfLiteFile> oddModels() {
        return Stream.of(
                OddModels.unusedSubgraph(),
                OddModels.whileLoop(),
                OddModels.branch(),
                OddModels.stateful(),
                OddModels.singleOperator(),
                OddModels.noOperators(),
                OddModels.outputReadLater(),
                OddModels.outputIsInputAndConstant(),
                OddModels.emptyTensors());
    }

    @ParameterizedTest
    @MethodSource("oddModels")
    void predict_oddModel_givesTheStockBytes(TfLiteFile model) throws Exception {
        try (LogCapture log = LogCapture.echoing()) {
            predictAsStock(write(model), REORDERED, 1);
            assertEquals(List.of(), log.ours("WARN"));
        }
    }

    @Test
    void load_modelThatCannotBePlanned_warnsOnceOfThat() throws Exception {
        Path dynamic = write(OddModels.dynamicInside());
        try (LogCapture log = LogCapture.echoing();
                ZooModel<NDList, NDList> model = Planned.load(dynamic, REORDERED)) {
            assertFalse(PlanReport.of(model).orElseThrow().planned());
            assertEquals(1, log.ours("WARN").size(), log.ours("WARN").toString());
            assertTrue(log.ours("WARN").get(0).contains("known only at run time"));
        }
    }

    @Test
    void load_again_takesTheCopyThatIsThere() throws Exception {
        predictAsStock(file, REORDERED, 1);
        Path copy = copies().get(0);
        TfLiteFile original = TfLiteReader.read(file);
        TfLiteFile copied = TfLiteReader.read(copy);
        assertFalse(original.equals(copied));
        assertEquals(original.main().operators().size(), copied.main().operators().size());
        assertEquals(Files.readAllBytes(file).length, Files.readAllBytes(copy).length, "same size");
        FileTime longAgo = FileTime.fromMillis(1_000_000_000_000L);
        Files.setLastModifiedTime(copy, longAgo);
        predictAsStock(file, REORDERED, 1);
        assertEquals(List.of(copy), copies());
        assertEquals(longAgo, Files.getLastModifiedTime(copy));
    }

    @ParameterizedTest
    @ValueSource(strings = {"first", "weights", "last", "short", "empty", "long", "other"})
    void load_damagedCopy_isMadeAnew(String damage) throws Exception {
        predictAsStock(file, REORDERED, 1);
        Path copy = copies().get(0);
        byte[] intact = Files.readAllBytes(copy);
        byte[] damaged = intact.clone();
        switch (damage) {
            case "first" -> damaged[0] ^= 1;
            case "weights" -> damaged[intact.length / 2] ^= 64;
            case "last" -> damaged[intact.length - 1] ^= 1;
            case "short" -> damaged = Arrays.copyOf(intact, intact.length - 1);
            case "empty" -> damaged = new byte[0];
            case "long" -> damaged = Arrays.copyOf(intact, intact.length + 1);
            default -> damaged = Files.readAllBytes(file);
        }
        Files.write(copy, damaged);
        PlanReport report = predictAsStock(file, REORDERED, 1);
        assertTrue(report.order().orElseThrow().adopted());
        assertArrayEquals(intact, Files.readAllBytes(copies().get(0)));
    }

    @Test
    void load_modelWithOtherWeights_replacesTheCopy() throws Exception {
        predictAsStock(file, REORDERED, 1);
        byte[] before = Files.readAllBytes(copies().get(0));
        predictAsStock(write(ParallelBottlenecks.build(2)), REORDERED, 1);
        assertEquals(1, copies().size());
        assertFalse(Arrays.equals(before, Files.readAllBytes(copies().get(0))));
    }

    @Test
    void of_folderThatTakesNoFiles_keepsTheCopyInTheCache() throws Exception {
        Files.createFile(folder.resolve(".djlplan"));
        Path cache = folder.resolve("cache");
        OrderedModel found = new Reordering(cache).of(file, Served.options(Map.of()));
        assertTrue(found.reordered());
        assertTrue(found.file().startsWith(cache));
        assertEquals(found, new Reordering(cache).of(file, Served.options(Map.of())));
    }

    @Test
    void of_noPlaceForACopy_keepsTheOrderWithOneWarning() throws Exception {
        Files.createFile(folder.resolve(".djlplan"));
        Path cache = Files.createFile(folder.resolve("cache"));
        try (LogCapture log = LogCapture.echoing()) {
            OrderedModel found = new Reordering(cache).of(file, Served.options(Map.of()));
            assertEquals(OrderedModel.asInFile(file), found);
            assertEquals(1, log.ours("WARN").size(), log.ours("WARN").toString());
            assertTrue(log.ours("WARN").get(0).contains("keeps the order of its operators"));
        }
    }

    @Test
    void load_delegated_measuresEachOrderForItself() throws Exception {
        assertDelegated(true, "MEASURED");
        assertDelegated(false, "MEASURED");
        assertDelegated(true, "STORED");
        assertDelegated(false, "STORED");
        try (Stream<Path> files = Files.list(folder.resolve(".djlplan"))) {
            assertEquals(
                    2, files.filter(each -> each.toString().endsWith(".profile.json")).count());
        }
    }

    private void assertDelegated(boolean reorder, String origin) throws Exception {
        Map<String, Object> arguments =
                Map.of(
                        "memplan.reorder",
                        reorder,
                        "delegation.profile",
                        "blocking",
                        "memplan.threads",
                        1,
                        "delegation.profileBudget",
                        "2s");
        try (StockInterpreter stock = new StockInterpreter(file, 1);
                ZooModel<NDList, NDList> model = Planned.load(file, arguments)) {
            List<ByteBuffer> inputs = stock.randomInputs(1);
            Tolerance.assertWithin(
                    stock.run(inputs),
                    Planned.predict(model, inputs, stock.shapes()),
                    file.toString());
            PlanReport report = PlanReport.of(model).orElseThrow();
            assertEquals(reorder, report.order().isPresent());
            assertEquals(origin, report.delegation().orElseThrow().origin());
        }
    }
}
