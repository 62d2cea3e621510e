package org.djlplan.integration.tflite.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import com.google.common.collect.ImmutableMap;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.djlplan.integration.networks.TightPacking;
import org.djlplan.integration.support.Bits;
import org.djlplan.integration.support.Freed;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.plan.greedy.Naive;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.runtime.BackgroundSearch;
import org.djlplan.memplan.source.tflite.TfLiteWriter;
import org.djlplan.memplan.store.FolderStore;
import org.djlplan.memplan.store.Kept;
import org.djlplan.memplan.store.SearchedPlan;
import org.djlplan.memplan.store.SearchedPlanCodec;
import org.djlplan.memplan.testing.Await;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.memplan.testing.TightGraph;
import org.djlplan.memplan.usage.PlanningProblem;
import org.djlplan.memplan.usage.UsageRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Models that the strategies do not plan as small as can be: searched, kept, and used. */
class PlanSearchTest {

    private static final String AT_LOAD = "10s";

    @TempDir Path folder;

    @BeforeAll
    static void loadEngine() {
        StockInterpreter.loadEngine();
    }

    @AfterEach
    void everythingIsFreed() {
        Freed.assertEverything();
    }

    private Path model(boolean inPlace) throws IOException {
        Path file = folder.resolve("tight.tflite");
        TfLiteWriter.write(TightPacking.build(1, inPlace), file);
        return file;
    }

    private static Map<String, Object> search(String mode, boolean inPlace) {
        return ImmutableMap.of("memplan.search", mode, "memplan.inPlace", inPlace);
    }

    /** Loads, compares two predictions with the stock engine's bit by bit, and reports. */
    private static PlanReport run(Path file, Map<String, ?> arguments) throws Exception {
        try (ZooModel<NDList, NDList> model = Planned.load(file, arguments)) {
            return predicted(file, model);
        }
    }

    private static PlanReport predicted(Path file, ZooModel<NDList, NDList> model)
            throws Exception {
        try (StockInterpreter stock = new StockInterpreter(file, -1)) {
            for (int seed = 0; seed < 2; seed++) {
                List<ByteBuffer> inputs = stock.randomInputs(seed);
                Bits.assertSame(
                        stock.run(inputs),
                        Planned.predict(model, inputs, stock.shapes()),
                        file.toString());
            }
        }
        PlanReport report = PlanReport.of(model).orElseThrow();
        assertEquals(0, report.predictions().unplanned());
        return report;
    }

    private static void assertNotSearched(PlanReport report) {
        assertFalse(report.plan().strategy().startsWith("exact-search"), report.plan().strategy());
        assertFalse(report.plan().provedMinimal());
        assertTrue(report.plan().arenaBytes() > 1.02 * TightGraph.PIECES_BYTES, report.toString());
    }

    private static void assertSearched(PlanReport report, boolean inPlace) {
        assertEquals(inPlace ? "exact-search+in-place" : "exact-search", report.plan().strategy());
        assertTrue(report.plan().provedMinimal());
        assertTrue(report.plan().arenaBytes() < 1.01 * TightGraph.PIECES_BYTES, report.toString());
    }

    private List<Path> kept() throws IOException {
        Path kept = folder.resolve(".djlplan");
        if (!Files.exists(kept)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(kept)) {
            return files.filter(file -> file.toString().endsWith(".searched.json")).toList();
        }
    }

    private static boolean searches() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals(BackgroundSearch.THREAD));
    }

    private FolderStore<SearchedPlan> store() {
        return FolderStore.at(new SearchedPlanCodec(), folder, folder.resolve("cache"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void load_background_usesThePlanFromTheNextLoadOn(boolean inPlace) throws Exception {
        Path file = model(inPlace);
        // The default.
        Map<String, Object> options = Map.of("memplan.inPlace", inPlace);
        try (LogCapture log = LogCapture.echoing();
                ZooModel<NDList, NDList> model = Planned.load(file, options)) {
            assertNotSearched(predicted(file, model));
            Await.until(() -> kept().size() == 1);
            assertNotSearched(predicted(file, model));
            assertEquals(List.of(), log.ours("WARN"));
        }
        FileTime time = Files.getLastModifiedTime(kept().get(0));
        assertSearched(run(file, options), inPlace);
        assertEquals(time, Files.getLastModifiedTime(kept().get(0)), "it is not searched again");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void load_duration_usesThePlanAtOnceAndKeepsIt(boolean inPlace) throws Exception {
        Path file = model(inPlace);
        assertSearched(run(file, search(AT_LOAD, inPlace)), inPlace);
        assertEquals(1, kept().size());
        FileTime time = Files.getLastModifiedTime(kept().get(0));
        assertSearched(run(file, search("1ms", inPlace)), inPlace);
        assertSearched(run(file, search("background", inPlace)), inPlace);
        assertEquals(time, Files.getLastModifiedTime(kept().get(0)), "it is not searched again");
    }

    @Test
    void load_off_neitherSearchesNorUsesWhatIsKept() throws Exception {
        Path file = model(false);
        assertNotSearched(run(file, search("off", false)));
        assertFalse(Files.exists(folder.resolve(".djlplan")));
        assertSearched(run(file, search(AT_LOAD, false)), false);
        assertNotSearched(run(file, search("off", false)));
    }

    @Test
    void load_strategyThatIsNamed_isNotSearched() throws Exception {
        Path file = model(false);
        Map<String, Object> options =
                Map.of("memplan.strategy", "greedy-by-size", "memplan.search", AT_LOAD);
        assertEquals("greedy-by-size", run(file, options).plan().strategy());
        assertFalse(Files.exists(folder.resolve(".djlplan")));
    }

    @Test
    void load_planAtTheBound_startsNoThreadAndKeepsNothing() throws Exception {
        Await.until(() -> !searches());
        Path file = Files.copy(TestModels.built("mobilenet_v2"), folder.resolve("m.tflite"));
        try (ZooModel<NDList, NDList> model = Planned.load(file, Map.of())) {
            PlanReport report = predicted(file, model);
            assertTrue(report.plan().provedMinimal());
            assertFalse(searches());
        }
        assertFalse(Files.exists(folder.resolve(".djlplan")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{", "{\"version\":1}"})
    void load_damagedPlan_warnsOnceAndMakesItAnew(String damaged) throws Exception {
        Path file = model(false);
        assertSearched(run(file, search(AT_LOAD, false)), false);
        Path kept = kept().get(0);
        Files.writeString(kept, damaged);
        try (LogCapture log = LogCapture.echoing();
                ZooModel<NDList, NDList> model = Planned.load(file, search("background", false))) {
            assertNotSearched(predicted(file, model));
            assertEquals(1, log.ours("WARN").size(), log.ours("WARN").toString());
            assertTrue(log.ours("WARN").get(0).contains(kept.getFileName().toString()));
            Await.until(() -> !Files.readString(kept).equals(damaged));
        }
        assertSearched(run(file, search("background", false)), false);
    }

    /** Whoever can write the file can also write a right checksum. */
    @Test
    void load_planOfOtherTensors_warnsOnceAndMakesItAnew() throws Exception {
        Path file = model(false);
        assertSearched(run(file, search(AT_LOAD, false)), false);
        Kept<SearchedPlan> right = store().all("tight.tflite").get(0);
        List<UsageRecord> records = new ArrayList<>(right.value().plan().problem().records());
        UsageRecord first = records.get(0);
        records.set(
                0,
                new UsageRecord(first.tensor(), first.first(), first.last(), first.bytes() - 64));
        OffsetPlan other = new Naive().plan(new PlanningProblem(records));
        store().save(right.key(), new SearchedPlan(other, true, 1));
        try (LogCapture log = LogCapture.echoing()) {
            assertSearched(run(file, search(AT_LOAD, false)), false);
            assertEquals(1, log.ours("WARN").size(), log.ours("WARN").toString());
        }
        try (LogCapture log = LogCapture.echoing()) {
            assertSearched(run(file, search("background", false)), false);
            assertEquals(List.of(), log.ours("WARN"));
        }
    }

    @Test
    void load_otherThreadsOrInPlace_isAnotherPlan() throws Exception {
        Path file = model(false);
        run(file, search(AT_LOAD, false));
        assertEquals(1, kept().size());
        run(
                file,
                ImmutableMap.of(
                        "memplan.search", AT_LOAD, "memplan.inPlace", false, "memplan.threads", 1));
        assertEquals(2, kept().size());
        run(file, search(AT_LOAD, true));
        assertEquals(3, kept().size());
    }
}
