package org.djlplan.integration.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.ProcessSize;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.internal.store.FileIdentity;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.testing.Await;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Loads of one file share a model if the option or the caller says so, and only then. */
abstract class SharingContract implements Contract {

    private static final Map<String, Object> SHARED = Map.of("memplan.shared", true);

    @TempDir static Path all;

    /** Returns how many warnings name the option if a file is loaded often without it. */
    abstract int warningsOfManyLoads();

    /** Returns the first model, in one file for all tests, because a new file must rest. */
    private ModelCase first() throws IOException {
        ModelCase each = engine().models(Files.createTempDirectory(all, "new")).get(0);
        Path rested = all.resolve(each.file().getFileName());
        if (Files.notExists(rested)) {
            Files.copy(each.file(), rested);
        }
        return each.in(settled(rested));
    }

    /** Waits until the file system's times show each later change. */
    private static Path settled(Path file) {
        Await.until(() -> FileIdentity.of(file).isUnchangedSince(Instant.now()));
        return file;
    }

    private static long predictions(ZooModel<NDList, NDList> model) {
        return PlanReport.of(model).orElseThrow().predictions().total();
    }

    @Test
    void load_sameFileTwice_sharesTheModelUntilTheLastIsClosed() throws Exception {
        ModelCase each = first();
        List<ByteBuffer> expected = each.stock(1).get(0);
        ZooModel<NDList, NDList> one = each.load(SHARED);
        ZooModel<NDList, NDList> two = each.load(SHARED);
        assertEquals(expected, each.predict(one, 0));
        assertEquals(expected, each.predict(two, 0));
        assertEquals(2, predictions(one));
        assertEquals(2, predictions(two));
        one.close();
        assertEquals(expected, each.predict(two, 0));
        try (ZooModel<NDList, NDList> three = each.load(SHARED)) {
            assertEquals(expected, each.predict(three, 0));
            assertEquals(4, predictions(two));
            two.close();
            assertEquals(expected, each.predict(three, 0));
        }
        everythingIsFreed();
        try (ZooModel<NDList, NDList> again = each.load(SHARED)) {
            assertEquals(expected, each.predict(again, 0));
            assertEquals(1, predictions(again));
        }
    }

    @Test
    void load_fileReplacedBetween_isAModelOfItsOwn(@TempDir Path folder) throws Exception {
        List<ModelCase> models = engine().models(folder);
        ModelCase each = models.get(0);
        ModelCase other = models.get(1);
        Path unused = settled(each.file());
        ModelCase replaced = new ModelCase(engine(), each.file(), other.inputSets());
        List<ByteBuffer> expected = each.stock(1).get(0);
        List<ByteBuffer> ofOther = other.stock(1).get(0);
        try (ZooModel<NDList, NDList> before = each.load(SHARED)) {
            assertEquals(expected, each.predict(before, 0));
            Files.move(other.file(), each.file(), StandardCopyOption.REPLACE_EXISTING);
            for (int i = 0; i < 2; i++) {
                try (ZooModel<NDList, NDList> after = replaced.load(SHARED)) {
                    assertEquals(ofOther, replaced.predict(after, 0));
                    assertEquals(1, predictions(after));
                    assertEquals(expected, each.predict(before, 0));
                }
                assertTrue(Files.exists(settled(each.file())));
            }
        }
    }

    @Test
    void load_otherOptionsOrNotShared_isAModelOfItsOwn() throws Exception {
        ModelCase each = first();
        List<ByteBuffer> expected = each.stock(1).get(0);
        List<Map<String, ?>> options =
                List.of(
                        SHARED,
                        Map.of("memplan.shared", true, "memplan.maxPredictions", 2),
                        Map.of());
        List<ZooModel<NDList, NDList>> models = new ArrayList<>();
        for (Map<String, ?> some : options) {
            models.add(each.load(some));
        }
        for (ZooModel<NDList, NDList> model : models) {
            assertEquals(expected, each.predict(model, 0));
            assertEquals(1, predictions(model));
        }
        models.forEach(ZooModel::close);
    }

    @Test
    void load_manyThreadsAtOnce_sharesAndAnswersRightly() throws Exception {
        ModelCase each = first();
        List<ByteBuffer> expected = each.stock(1).get(0);
        Threads.all(
                4,
                thread -> {
                    engine().prepareThread();
                    for (int i = 0; i < 5; i++) {
                        try (ZooModel<NDList, NDList> model = each.load(SHARED)) {
                            assertEquals(expected, each.predict(model, 0));
                        }
                    }
                    return true;
                });
    }

    @Test
    void load_twoHundredTimes_takesTheMemoryOfOneModel() throws Exception {
        ModelCase each = first();
        List<ZooModel<NDList, NDList>> models = new ArrayList<>();
        long before = 0;
        for (int i = 0; i < 200; i++) {
            models.add(each.load(SHARED));
            if (i == 10) {
                before = ProcessSize.residentBytes();
            }
        }
        assertEquals(each.predict(models.get(0), 0), each.predict(models.get(199), 0));
        long growth = ProcessSize.residentBytes() - before;
        models.forEach(ZooModel::close);
        assertTrue(growth < 64 << 20, growth + " bytes");
    }

    @Test
    void load_sameFileOftenWithoutTheOption_warnsOnceIfItTakesMemory() throws Exception {
        ModelCase each = first();
        List<ZooModel<NDList, NDList>> models = new ArrayList<>();
        try (LogCapture log = new LogCapture()) {
            for (int i = 0; i < 10; i++) {
                models.add(each.load());
            }
            List<String> warnings =
                    log.lines("WARN").stream()
                            .filter(line -> line.contains("memplan.shared=true"))
                            .toList();
            assertEquals(warningsOfManyLoads(), warnings.size(), warnings.toString());
            warnings.forEach(line -> assertTrue(line.contains("is loaded 8 times"), line));
        } finally {
            models.forEach(ZooModel::close);
        }
    }

    /** Static fields of several classes often have the model of one key. */
    @Test
    void acquire_manyThreadsAtOnce_isOneModelUntilTheLastIsClosed() throws Exception {
        ModelCase each = first();
        List<List<ByteBuffer>> expected = each.stock(4);
        List<ZooModel<NDList, NDList>> models =
                Threads.all(
                        8,
                        thread -> {
                            engine().prepareThread();
                            ZooModel<NDList, NDList> model =
                                    PlannedModels.acquire(
                                            "contract",
                                            each.criteria()
                                                    .optTranslatorFactory(each.factory(Map.of()))
                                                    .build());
                            for (int seed = 0; seed < 4; seed++) {
                                assertEquals(expected.get(seed), each.predict(model, seed));
                            }
                            return model;
                        });
        assertEquals(32, predictions(models.get(0)));
        for (ZooModel<NDList, NDList> model : models) {
            assertSame(models.get(0).getWrappedModel(), model.getWrappedModel());
            assertEquals(expected.get(0), each.predict(model, 0));
            model.close();
            model.close();
        }
        PlannedModels.closeUnused(Thread.currentThread().getContextClassLoader());
    }
}
