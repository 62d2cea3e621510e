package org.djlplan.memplan.source.tflite;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.UUID;
import org.djlplan.memplan.source.tflite.FlatTableWriter.Layout;
import org.djlplan.memplan.source.tflite.FlatTableWriter.PlacedRaw;

/**
 * Writes {@code .tflite} files: what {@link TfLiteReader} reads back is equal to what was written.
 * Buffers lie at multiples of 16 bytes, as TFLite's kernels expect.
 */
public final class TfLiteWriter {

    private TfLiteWriter() {}

    /**
     * Writes a file. It appears whole or not at all: it is written beside its place and renamed, so
     * that whoever has an older one mapped keeps that.
     *
     * @throws TfLiteWriteException if the model has parts that cannot be written, or is too large
     * @throws IOException if the folder cannot be written
     */
    public static void write(TfLiteFile model, Path file) throws IOException {
        Layout layout = layout(model);
        Path absolute = file.toAbsolutePath();
        Path folder = absolute.getParent();
        if (folder == null) {
            throw new TfLiteWriteException(file + ": not a place for a file");
        }
        Path temporary =
                folder.resolve("." + absolute.getFileName() + "." + UUID.randomUUID() + ".tmp");
        try {
            try (FileChannel channel =
                    FileChannel.open(
                            temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                emit(layout, buffer -> writeFully(channel, buffer));
                channel.force(true);
            }
            Files.move(temporary, absolute, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    /**
     * Returns the file's content, in a new direct buffer from position 0.
     *
     * @throws TfLiteWriteException if the model has parts that cannot be written, or is too large
     */
    public static ByteBuffer toByteBuffer(TfLiteFile model) throws TfLiteWriteException {
        Layout layout = layout(model);
        ByteBuffer file =
                ByteBuffer.allocateDirect((int) layout.sizeBytes()).order(ByteOrder.LITTLE_ENDIAN);
        emit(layout, file::put);
        return file.flip();
    }

    private static Layout layout(TfLiteFile model) throws TfLiteWriteException {
        if (!model.notCarried().isEmpty()) {
            throw new TfLiteWriteException(
                    "parts beyond the known schema would be lost: " + model.notCarried());
        }
        return new FlatTableWriter().layout(FileTables.model(model), "TFL3");
    }

    private interface Sink<E extends Exception> {
        void put(ByteBuffer bytes) throws E;
    }

    private static <E extends Exception> void emit(Layout layout, Sink<E> sink) throws E {
        sink.put(layout.tables());
        long position = layout.tables().capacity();
        for (PlacedRaw raw : layout.raws()) {
            int gapBytes = (int) (raw.offsetBytes() - position);
            ByteBuffer gap = ByteBuffer.allocate(gapBytes).order(ByteOrder.LITTLE_ENDIAN);
            gap.putInt(gapBytes - Integer.BYTES, raw.length());
            sink.put(gap);
            sink.put(raw.bytes().buffer());
            position = raw.offsetBytes() + raw.bytes().sizeBytes();
        }
    }

    private static void writeFully(FileChannel channel, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }
}
