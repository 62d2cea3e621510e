package org.djlplan.integration.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.IntFunction;

/**
 * Buffers in an unnamed mapped file, outside the heap. The system may write them to disk. They stay
 * usable after {@link #close}.
 */
final class MappedMemory implements IntFunction<ByteBuffer>, AutoCloseable {

    private final FileChannel channel;
    private long usedBytes;

    /** Creates the file in a folder. */
    MappedMemory(Path folder) throws IOException {
        Path file = Files.createTempFile(folder, "weights", ".tmp");
        channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
        Files.delete(file);
    }

    @Override
    public ByteBuffer apply(int bytes) {
        try {
            ByteBuffer buffer = channel.map(FileChannel.MapMode.READ_WRITE, usedBytes, bytes);
            usedBytes += bytes;
            return buffer;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
