package org.djlplan.memplan.internal.source.tflite;

import static org.djlplan.memplan.internal.source.tflite.TfLiteWriter.PAGE_BYTES;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.djlplan.memplan.graph.FileRegion;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests files whose large buffers start at page boundaries, so that each can be loaded alone. */
class PageAlignedTest {

    @TempDir Path folder;

    static List<TfLiteFile> models() {
        List<TfLiteFile> models = new ArrayList<>(SampleModels.all());
        models.add(withBuffers(0, 1, 4095, 4096, 4097, 8191, 8192, 8193, 12284, 12288, 3, 70_000));
        Random random = new Random(1);
        for (int i = 0; i < 20; i++) {
            models.add(withBuffers(random.ints(12, 0, 20_000).toArray()));
        }
        return models;
    }

    @ParameterizedTest
    @MethodSource("models")
    void write_largeBuffers_havePagesOfTheirOwn(TfLiteFile model) throws IOException {
        Path file = folder.resolve("model.tflite");
        TfLiteWriter.writePageAligned(model, file, bytes -> {});
        TfLiteFile read = TfLiteReader.read(file);
        assertEquals(model, read);
        assertEquals(0, Files.size(file) % PAGE_BYTES);
        Set<Long> pages = new HashSet<>();
        for (TfLiteBytes buffer : read.buffers()) {
            if (buffer.sizeBytes() >= PAGE_BYTES) {
                FileRegion region = buffer.region().orElseThrow();
                assertEquals(0, region.offsetBytes() % PAGE_BYTES, region.toString());
                long end = region.offsetBytes() + region.lengthBytes();
                for (long page = region.offsetBytes(); page < end; page += PAGE_BYTES) {
                    assertTrue(pages.add(page), region.toString());
                }
            }
        }
        for (TfLiteBytes buffer : read.buffers()) {
            if (buffer.sizeBytes() < PAGE_BYTES && buffer.region().isPresent()) {
                long offset = buffer.region().get().offsetBytes();
                assertTrue(!pages.contains(offset / PAGE_BYTES * PAGE_BYTES), buffer.toString());
            }
        }
    }

    @Test
    void write_pageAligned_reportsProgress() throws IOException {
        Path file = folder.resolve("model.tflite");
        List<Long> told = new ArrayList<>();
        TfLiteWriter.writePageAligned(withBuffers(5_000_000, 3_000_000), file, told::add);
        assertTrue(told.size() > 8, told.toString());
        assertEquals(told.stream().sorted().toList(), told);
        assertEquals(Files.size(file), told.get(told.size() - 1));
    }

    /** Little memory is used, even for a constant of a gigabyte. */
    @Test
    void write_computedBuffer_isAskedForInSmallPieces() throws IOException {
        int sizeBytes = 10_000_001;
        int[] largest = {0};
        TfLiteBytes computed =
                TfLiteBytes.computed(
                        sizeBytes,
                        (begin, size) -> {
                            largest[0] = Math.max(largest[0], size);
                            return counting(begin, size);
                        });
        Path file = folder.resolve("model.tflite");
        TfLiteWriter.writePageAligned(
                SampleModels.withBuffers(List.of(computed)), file, bytes -> {});
        assertTrue(largest[0] <= 1 << 20, largest[0] + " bytes");
        assertEquals(
                TfLiteBytes.of(counting(0, sizeBytes)), TfLiteReader.read(file).buffers().get(1));
    }

    @Test
    void write_computedBufferFails_leavesNothing() throws IOException {
        TfLiteBytes failing =
                TfLiteBytes.computed(
                        5_000_000,
                        (begin, size) -> {
                            if (begin > 2_000_000) {
                                throw new IllegalStateException("gone");
                            }
                            return counting(begin, size);
                        });
        TfLiteFile model = SampleModels.withBuffers(List.of(failing));
        Path file = folder.resolve("model.tflite");
        assertThrows(
                IllegalStateException.class,
                () -> TfLiteWriter.writePageAligned(model, file, bytes -> {}));
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(0, left.count());
        }
    }

    @Test
    void write_pageAlignedOverAFile_throwsAndLeavesIt() throws IOException {
        Path file = folder.resolve("model.tflite");
        TfLiteWriter.write(SampleModels.tiny(), file);
        TfLiteFile model = withBuffers(5000);
        assertThrows(
                FileAlreadyExistsException.class,
                () -> TfLiteWriter.writePageAligned(model, file, bytes -> {}));
        assertEquals(SampleModels.tiny(), TfLiteReader.read(file));
    }

    @Test
    void write_pageAlignedMoreThanTwoGibibytes_throws() {
        TfLiteBytes large = TfLiteBytes.computed(1 << 30, PageAlignedTest::counting);
        TfLiteFile model = SampleModels.withBuffers(Collections.nCopies(2, large));
        Path file = folder.resolve("model.tflite");
        assertThrows(
                TfLiteWriteException.class,
                () -> TfLiteWriter.writePageAligned(model, file, bytes -> {}));
    }

    @Test
    void slice_ofBytes_isAPartAndKnowsItsPlace() throws IOException {
        Path file = folder.resolve("model.tflite");
        TfLiteWriter.writePageAligned(withBuffers(9000), file, bytes -> {});
        TfLiteBytes whole = TfLiteReader.read(file).buffers().get(1);
        TfLiteBytes part = whole.slice(100, 200).slice(10, 20);
        assertEquals(TfLiteBytes.of(whole.buffer().slice(110, 20)), part);
        assertEquals(TfLiteBytes.of(whole.buffer().slice(110, 20)).hashCode(), part.hashCode());
        assertEquals(
                whole.region().orElseThrow().offsetBytes() + 110,
                part.region().orElseThrow().offsetBytes());
        assertThrows(IndexOutOfBoundsException.class, () -> whole.slice(8999, 2));
        assertThrows(IndexOutOfBoundsException.class, () -> part.read(-1, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> part.read(19, 2));
    }

    private static ByteBuffer counting(int begin, int size) {
        ByteBuffer bytes = ByteBuffer.allocate(size);
        for (int i = 0; i < size; i++) {
            bytes.put((byte) (((begin + i) * 31) >> 3));
        }
        return bytes.flip();
    }

    private static TfLiteFile withBuffers(int... sizes) {
        List<TfLiteBytes> contents = new ArrayList<>();
        for (int size : sizes) {
            contents.add(TfLiteBytes.of(counting(contents.size(), size)));
        }
        return SampleModels.withBuffers(contents);
    }
}
