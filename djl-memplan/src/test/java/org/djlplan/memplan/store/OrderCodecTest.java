package org.djlplan.memplan.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.io.ByteSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.djlplan.memplan.order.OperatorOrder;
import org.djlplan.memplan.order.PlannedOrder;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Orders, and the copies of models that are kept with them. */
class OrderCodecTest {

    private static final StoreKey KEY = new StoreKey("model.tflite", Map.of("threads", "1"));

    @TempDir private Path folder;
    private Path models;
    private Path cache;

    @BeforeEach
    void makeFolders() throws IOException {
        models = Files.createDirectory(folder.resolve("models"));
        cache = folder.resolve("cache");
    }

    private static PlannedOrder order(Integer... operators) {
        return new PlannedOrder(new OperatorOrder(List.of(operators), 192, 128, true), 200, 128);
    }

    private FolderStore<PlannedOrder> store() {
        return FolderStore.at(new OrderCodec(), models, cache);
    }

    @Test
    void load_saved_isEqual() {
        store().save(KEY, order(0, 2, 1));
        assertEquals(Optional.of(order(0, 2, 1)), store().load(KEY));
    }

    @ParameterizedTest
    @CsvSource({"'[0,2,1]','[0,1,2]'", "192,191", "true,false", "sha256,sha257"})
    void load_changed_isRefused(String from, String to) throws IOException {
        store().save(KEY, order(0, 2, 1));
        try (Stream<Path> files = Files.list(models.resolve(".djlplan"))) {
            Path file = files.findFirst().orElseThrow();
            String text = Files.readString(file);
            assertTrue(text.contains(from), text);
            Files.writeString(file, text.replace(from, to));
        }
        try (LogCapture log = new LogCapture()) {
            assertEquals(Optional.empty(), store().load(KEY));
            assertEquals(1, log.lines("WARN").size());
        }
    }

    @Test
    void load_operatorTwice_isRefused() {
        store().save(KEY, order(0, 2, 2));
        try (LogCapture log = new LogCapture()) {
            assertEquals(Optional.empty(), store().load(KEY));
            assertTrue(log.lines().get(0).contains("operator 2 twice or unknown"));
        }
    }

    private KeptFile kept(String variant) {
        return KeptFile.of(models.resolve("model.tflite"), cache, variant, ".tflite");
    }

    @Test
    void replace_copies_lieBesideTheModelEachForItself() throws IOException {
        assertEquals(List.of(), kept("one").candidates());
        Path one = kept("one").replace(ByteSource.wrap(new byte[] {1}));
        Path two = kept("two").replace(ByteSource.wrap(new byte[] {2}));
        assertEquals(models.resolve(".djlplan"), one.getParent());
        assertTrue(one.getFileName().toString().startsWith("model.tflite-"));
        assertEquals(List.of(one), kept("one").candidates());
        assertEquals(one, kept("one").replace(ByteSource.wrap(new byte[] {3})));
        assertArrayEquals(new byte[] {3}, Files.readAllBytes(one));
        assertArrayEquals(new byte[] {2}, Files.readAllBytes(two));
    }

    @Test
    void replace_noFolderBeside_goesIntoTheCacheUntilThereIsOne() throws IOException {
        Path blocker = Files.createFile(models.resolve(".djlplan"));
        Path cached = kept("one").replace(ByteSource.wrap(new byte[] {1}));
        assertTrue(cached.startsWith(cache));
        Files.delete(blocker);
        Path beside = kept("one").replace(ByteSource.wrap(new byte[] {2}));
        assertEquals(List.of(beside), kept("one").candidates());
    }

    @Test
    void replace_contentThatCannotBeRead_leavesNothing() throws IOException {
        ByteSource missing = com.google.common.io.Files.asByteSource(folder.resolve("x").toFile());
        assertThrows(IOException.class, () -> kept("one").replace(missing));
        try (Stream<Path> files = Files.walk(folder)) {
            assertEquals(0, files.filter(Files::isRegularFile).count());
        }
    }
}
