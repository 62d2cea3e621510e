package org.djlplan.memplan.internal.store;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Optional;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * Computes fingerprints of files over all bytes, and caches them: a file is read again only after
 * it was written.
 *
 * <p>A fingerprint has the CRC-32 and the CRC-32C of the content, which together are a checksum of
 * 64 bits: it differs after any change of up to 32 bits in a row, and two files that differ by
 * accident have the same checksum with a probability of 2<sup>−64</sup>. It gives no protection
 * against an attacker who constructs another file with the same fingerprint. The CPU has
 * instructions for both checksums, so they are computed about as fast as memory is read.
 *
 * <p>Fingerprints are cached only in the application's cache folder, because a model's folder may
 * come from anywhere. A cached fingerprint is used only if the file has the same {@link
 * FileIdentity}. It is stored only if the last change of the file is some seconds ago, because a
 * later change within the same tick of the file system's clock would not be detected.
 */
public final class Fingerprints {

    private static final String FOLDER = "fingerprints";

    private static final Format<Fingerprint> FORMAT =
            new Format<>("fingerprint", 2, Fingerprint.class);

    /** More files than an application loads; each entry takes half a kilobyte. */
    private static final int MOST_FILES = 1024;

    /** Smaller than the size from which on the C library maps new memory for each read. */
    private static final int BLOCK_BYTES = 64 << 10;

    private static final int PASS_BYTES = 4 << 20;

    /** How often a file is read again because it changes meanwhile. */
    private static final int MOST_READS = 3;

    private final FolderStore<Fingerprint> cached;
    private final ReadPages pages;

    /** Receives the parts of a file that were read and need not stay in memory. */
    @FunctionalInterface
    public interface ReadPages {

        /** Called from the beginning to the end of the file. */
        void release(Path file, long offsetBytes, long lengthBytes);
    }

    /**
     * @param cacheFolder the application's
     */
    public Fingerprints(Path cacheFolder) {
        this(cacheFolder, (file, offsetBytes, lengthBytes) -> {});
    }

    /**
     * @param cacheFolder the application's
     * @param pages receives the parts that were read
     */
    public Fingerprints(Path cacheFolder, ReadPages pages) {
        Path folder = cacheFolder.toAbsolutePath();
        KeptFolders folders =
                new KeptFolders(folder.resolve(FOLDER), folder.resolve("djlplan").resolve(FOLDER));
        cached = new FolderStore<>(FORMAT, folders, MOST_FILES, true);
        this.pages = pages;
    }

    /**
     * Returns the fingerprint of a file, which is read unless the fingerprint is cached.
     *
     * @throws IOException if the file cannot be read, or keeps changing
     */
    public Fingerprint of(Path file) throws IOException {
        Path real = file.toRealPath();
        FileIdentity before = FileIdentity.of(real);
        Optional<Fingerprint> known =
                cached.load(key(real)).filter(found -> found.identity().equals(before));
        if (known.isPresent()) {
            return known.get();
        }
        boolean settled = before.isSettled();
        Fingerprint computed = computed(real, before);
        if (settled && computed.identity().equals(before)) {
            cached.save(key(real), computed);
        }
        return computed;
    }

    /**
     * Returns the fingerprint of a file that is in memory, such as one that was replaced.
     *
     * @param identity of the file
     * @param pass called from time to time, when the bytes so far are not needed again
     */
    public static Fingerprint of(FileIdentity identity, ByteBuffer bytes, Runnable pass) {
        CRC32 crc = new CRC32();
        CRC32C other = new CRC32C();
        ByteBuffer rest = bytes.duplicate();
        while (rest.hasRemaining()) {
            int length = Math.min(PASS_BYTES, rest.remaining());
            crc.update(rest.slice(rest.position(), length));
            other.update(rest.slice(rest.position(), length));
            rest.position(rest.position() + length);
            pass.run();
        }
        return Fingerprint.of(identity, crc.getValue(), other.getValue());
    }

    /**
     * Returns the fingerprint of a file that only this process has just written; it is cached at
     * once.
     *
     * @throws IOException if the file cannot be read, or changes
     */
    Fingerprint ofMade(Path file) throws IOException {
        Path real = file.toRealPath();
        Fingerprint computed = computed(real, FileIdentity.of(real));
        if (computed.identity().hasChangeTime()) {
            cached.save(key(real), computed);
        }
        return computed;
    }

    private Fingerprint computed(Path file, FileIdentity first) throws IOException {
        FileIdentity before = first;
        for (int i = 0; i < MOST_READS; i++) {
            Fingerprint fingerprint = read(file, before);
            FileIdentity after = FileIdentity.of(file);
            if (after.equals(before)) {
                return fingerprint;
            }
            before = after;
        }
        throw new IOException(file + " changes while it is read");
    }

    private Fingerprint read(Path file, FileIdentity identity) throws IOException {
        CRC32 crc = new CRC32();
        CRC32C other = new CRC32C();
        byte[] block = new byte[BLOCK_BYTES];
        long bytes = 0;
        long released = 0;
        // Unlike a channel, it is not closed if the thread is interrupted.
        try (RandomAccessFile in = new RandomAccessFile(file.toFile(), "r")) {
            int length = in.read(block);
            while (length > 0) {
                crc.update(block, 0, length);
                other.update(block, 0, length);
                bytes += length;
                if (bytes - released >= PASS_BYTES) {
                    pages.release(file, released, bytes - released);
                    released = bytes;
                }
                length = in.read(block);
            }
        }
        if (bytes > released) {
            pages.release(file, released, bytes - released);
        }
        return Fingerprint.of(identity, crc.getValue(), other.getValue());
    }

    private static StoreKey key(Path file) {
        return new StoreKey("file", ImmutableMap.of("path", file.toString()));
    }
}
