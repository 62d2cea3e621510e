package org.djlplan.memplan.store;

import com.google.common.hash.Hasher;
import com.google.common.hash.Hashing;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** Hashes that tell one model file from another without reading all of its weights. */
public final class ModelFiles {

    private static final int SAMPLES = 64;
    private static final int BLOCK_BYTES = 4096;

    private ModelFiles() {}

    /**
     * Returns a hash of the directory of a TorchScript archive, which is a zip file: names, sizes
     * and CRC-32s of all entries in their order. It differs whenever code or weights differ. No
     * entry is read.
     *
     * @param ptFile the archive
     * @return 64 hexadecimal digits
     * @throws IOException if it cannot be read or is no zip file
     */
    public static String archiveStructure(Path ptFile) throws IOException {
        Hasher hasher = Hashing.sha256().newHasher();
        try (ZipFile archive = new ZipFile(ptFile.toFile())) {
            // In contrast to entries(), the stream's order is specified.
            archive.stream().forEachOrdered(entry -> add(hasher, entry));
        }
        return hasher.hash().toString();
    }

    /**
     * Returns a hash of a file's size and of the CRC-32s of {@value #SAMPLES} blocks of {@value
     * #BLOCK_BYTES} bytes: the first, the last, and others at even distances between them; of all
     * blocks where those are no more. For files of which hashing all bytes would take longer than
     * loading them.
     *
     * @return 64 hexadecimal digits
     * @throws IOException if the file cannot be read
     */
    public static String sampledContent(Path file) throws IOException {
        Hasher hasher = Hashing.sha256().newHasher();
        // Computed by the CPU's instructions from the first call on, in contrast to a stronger
        // hash, which takes tens of milliseconds in a JVM that has just started.
        CRC32 crc = new CRC32();
        byte[] block = new byte[BLOCK_BYTES];
        // In contrast to a channel, it is not closed when the thread is interrupted.
        try (RandomAccessFile in = new RandomAccessFile(file.toFile(), "r")) {
            long bytes = in.length();
            long last = Math.max(0, bytes - BLOCK_BYTES);
            int samples = (int) Math.min(SAMPLES, (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES);
            hasher.putLong(bytes);
            for (int i = 0; i < samples; i++) {
                in.seek(samples == 1 ? 0 : last * i / (samples - 1));
                int length = (int) Math.min(BLOCK_BYTES, bytes);
                in.readFully(block, 0, length);
                crc.reset();
                crc.update(block, 0, length);
                hasher.putLong(crc.getValue());
            }
        }
        return hasher.hash().toString();
    }

    private static void add(Hasher hasher, ZipEntry entry) {
        hasher.putInt(entry.getName().length())
                .putUnencodedChars(entry.getName())
                .putLong(entry.getSize())
                .putLong(entry.getCrc());
    }
}
