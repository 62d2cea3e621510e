package org.djlplan.integration.support;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.djlplan.memplan.internal.store.FileIdentity;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.testing.Await;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The tests of {@code memplan.shared}, which are the same for each engine. */
public abstract class SharedLoads {

    private static final Map<String, Object> SHARED = Map.of("memplan.shared", true);

    @TempDir private Path folder;

    /** Returns one of two models that take the same inputs and answer differently. */
    protected abstract Path model(int which) throws Exception;

    /** Loads a file through djl-plan, with options. */
    protected abstract ZooModel<NDList, NDList> load(Path file, Map<String, Object> options)
            throws Exception;

    /** Predicts once, always the same inputs; returns copies of the outputs. */
    protected abstract Object predict(ZooModel<NDList, NDList> model) throws Exception;

    /** Fails unless all memory of models is freed. */
    protected abstract void assertFreed();

    private Path copy() throws Exception {
        Path source = model(0);
        return settled(Files.copy(source, folder.resolve(source.getFileName())));
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
        Path file = copy();
        Object expected;
        try (ZooModel<NDList, NDList> alone = load(file, Map.of())) {
            expected = predict(alone);
        }
        ZooModel<NDList, NDList> first = load(file, SHARED);
        ZooModel<NDList, NDList> second = load(file, SHARED);
        assertEquals(expected, predict(first));
        assertEquals(expected, predict(second));
        assertEquals(2, predictions(first));
        assertEquals(2, predictions(second));
        first.close();
        assertEquals(expected, predict(second));
        try (ZooModel<NDList, NDList> third = load(file, SHARED)) {
            assertEquals(expected, predict(third));
            assertEquals(4, predictions(second));
            second.close();
            assertEquals(expected, predict(third));
        }
        assertFreed();
        try (ZooModel<NDList, NDList> again = load(file, SHARED)) {
            assertEquals(expected, predict(again));
            assertEquals(1, predictions(again));
        }
        assertFreed();
    }

    @Test
    void load_fileReplacedBetween_isAModelOfItsOwn() throws Exception {
        Path file = copy();
        try (ZooModel<NDList, NDList> before = load(file, SHARED)) {
            Object old = predict(before);
            Path other = Files.copy(model(1), folder.resolve("other"));
            Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
            for (int i = 0; i < 2; i++) {
                try (ZooModel<NDList, NDList> after = load(file, SHARED)) {
                    assertNotEquals(old, predict(after));
                    assertEquals(1, predictions(after));
                    assertEquals(old, predict(before));
                }
                assertTrue(Files.exists(settled(file)));
            }
        }
        assertFreed();
    }

    @Test
    void load_otherOptionsOrNotShared_isAModelOfItsOwn() throws Exception {
        Path file = copy();
        try (ZooModel<NDList, NDList> shared = load(file, SHARED);
                ZooModel<NDList, NDList> other =
                        load(file, Map.of("memplan.shared", true, "memplan.maxPredictions", 2));
                ZooModel<NDList, NDList> alone = load(file, Map.of())) {
            assertEquals(predict(shared), predict(other));
            assertEquals(predict(shared), predict(alone));
            assertEquals(2, predictions(shared));
            assertEquals(1, predictions(other));
            assertEquals(1, predictions(alone));
        }
        assertFreed();
    }

    @Test
    void load_manyThreadsAtOnce_sharesAndAnswersRightly() throws Exception {
        Path file = copy();
        Object expected;
        try (ZooModel<NDList, NDList> alone = load(file, Map.of())) {
            expected = predict(alone);
        }
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            Callable<Integer> user =
                    () -> {
                        int wrong = 0;
                        for (int i = 0; i < 5; i++) {
                            try (ZooModel<NDList, NDList> model = load(file, SHARED)) {
                                wrong += expected.equals(predict(model)) ? 0 : 1;
                            }
                        }
                        return wrong;
                    };
            List<Future<Integer>> users = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                users.add(threads.submit(user));
            }
            for (Future<Integer> each : users) {
                assertEquals(0, each.get());
            }
        } finally {
            threads.shutdown();
        }
        assertFreed();
    }

    @Test
    void load_twoHundredTimes_takesTheMemoryOfOneModel() throws Exception {
        assertMemoryOfOneModel(copy(), 200);
    }

    /** Loads a file this many times, and fails if the process grows by more than 64 MiB. */
    protected final void assertMemoryOfOneModel(Path file, int loads) throws Exception {
        List<ZooModel<NDList, NDList>> models = new ArrayList<>();
        try {
            long before = 0;
            for (int i = 0; i < loads; i++) {
                models.add(load(file, SHARED));
                if (i == 10) {
                    before = ProcessSize.residentBytes();
                }
            }
            assertEquals(predict(models.get(0)), predict(models.get(loads - 1)));
            long growth = ProcessSize.residentBytes() - before;
            assertTrue(growth < 64 << 20, growth + " bytes");
        } finally {
            models.forEach(ZooModel::close);
        }
        assertFreed();
    }

    /** Loads a file often without the option; returns the warnings that name the option. */
    protected final List<String> warningsOfManyLoads() throws Exception {
        Path file = copy();
        List<ZooModel<NDList, NDList>> models = new ArrayList<>();
        try (LogCapture log = new LogCapture()) {
            for (int i = 0; i < 10; i++) {
                models.add(load(file, Map.of()));
            }
            return log.lines("WARN").stream()
                    .filter(line -> line.contains("memplan.shared=true"))
                    .toList();
        } finally {
            models.forEach(ZooModel::close);
        }
    }
}
