package org.djlplan.memplan.internal.source.tflite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.djlplan.thirdparty.flatbuffers.FlatBufferBuilder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RoundTripTest {

    @TempDir Path folder;

    static List<TfLiteFile> models() {
        return SampleModels.all();
    }

    @ParameterizedTest
    @MethodSource("models")
    void read_whatWasWritten_isEqual(TfLiteFile model) throws IOException {
        Path file = folder.resolve("model.tflite");
        TfLiteWriter.write(model, file);
        TfLiteFile read = TfLiteReader.read(file);
        assertEquals(model, read);
        assertEquals(model, TfLiteReader.read(TfLiteWriter.toByteBuffer(read), "again"));
        assertEquals(ByteBuffer.wrap(Files.readAllBytes(file)), TfLiteWriter.toByteBuffer(model));
    }

    @Test
    void read_bufferFromAPosition_countsFromThereAndLeavesTheBufferAlone() throws IOException {
        ByteBuffer alone = SampleModels.tinyFile();
        ByteBuffer inside = ByteBuffer.allocate(alone.remaining() + 24).position(16);
        inside.put(alone.duplicate()).flip().position(16);
        TfLiteFile read = TfLiteReader.read(inside, "inside");
        assertEquals(SampleModels.tiny(), read);
        assertEquals(16, inside.position());
        assertEquals(
                TfLiteReader.read(alone, "alone").buffers().get(1).region(),
                read.buffers().get(1).region());
    }

    @ParameterizedTest
    @MethodSource("models")
    void write_buffers_lieAtMultiplesOf16Bytes(TfLiteFile model) throws IOException {
        ByteBuffer file = TfLiteWriter.toByteBuffer(model);
        assertEquals("TFL3", StandardCharsets.US_ASCII.decode(file.slice(4, 4)).toString());
        TfLiteReader.read(file, "model").buffers().stream()
                .flatMap(buffer -> buffer.region().stream())
                .filter(region -> region.lengthBytes() > 0)
                .forEach(region -> assertEquals(0, region.offsetBytes() % 16, region.toString()));
    }

    @Test
    void write_overAFileThatIsMapped_replacesItWhole() throws IOException {
        Path file = folder.resolve("model.tflite");
        TfLiteWriter.write(SampleModels.tiny(), file);
        TfLiteFile older = TfLiteReader.read(file);
        TfLiteWriter.write(SampleModels.everything(), file);
        assertEquals(SampleModels.tiny(), older);
        assertEquals(SampleModels.everything(), TfLiteReader.read(file));
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(List.of(file), left.toList());
        }
    }

    @Test
    void write_intoAFolderThatIsMissing_throws() {
        Path file = folder.resolve("missing").resolve("model.tflite");
        assertThrows(
                NoSuchFileException.class, () -> TfLiteWriter.write(SampleModels.tiny(), file));
    }

    @Test
    void write_partsBeyondTheSchema_throwsAndLeavesNothing() throws IOException {
        TfLiteFile newer = TfLiteReader.read(fileWithANewerField(), "newer");
        assertEquals(List.of("subgraphs[0].slot_6"), newer.notCarried());
        Path file = folder.resolve("model.tflite");
        TfLiteWriteException e =
                assertThrows(TfLiteWriteException.class, () -> TfLiteWriter.write(newer, file));
        assertTrue(e.getMessage().contains("subgraphs[0].slot_6"), e.getMessage());
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(0, left.count());
        }
    }

    private static ByteBuffer fileWithANewerField() {
        FlatBufferBuilder builder = new FlatBufferBuilder();
        builder.startTable(7);
        builder.addInt(6, 42, 0);
        int subgraph = builder.endTable();
        builder.startTable(1);
        int buffer = builder.endTable();
        int subgraphs = builder.createVectorOfTables(new int[] {subgraph});
        int buffers = builder.createVectorOfTables(new int[] {buffer});
        builder.startTable(8);
        builder.addInt(0, 3, 0);
        builder.addOffset(2, subgraphs, 0);
        builder.addOffset(4, buffers, 0);
        builder.finish(builder.endTable(), "TFL3");
        return builder.dataBuffer();
    }

    @Test
    void write_moreThanTwoGibibytes_throws() {
        TfLiteBytes large = TfLiteBytes.of(ByteBuffer.allocate(1 << 22));
        TfLiteFile model = SampleModels.withBuffers(Collections.nCopies(512, large));
        assertThrows(TfLiteWriteException.class, () -> TfLiteWriter.toByteBuffer(model));
    }
}
