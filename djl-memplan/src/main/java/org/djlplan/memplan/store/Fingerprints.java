package org.djlplan.memplan.store;

import com.google.common.collect.ImmutableMap;
import com.google.common.io.ByteSource;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Optional;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Computes fingerprints of files, each over all bytes, and remembers them: a file that was not
 * written to since is not read again.
 *
 * <p>A fingerprint has the CRC-32 and the CRC-32C of the content, which together are a checksum of
 * 64 bits: it differs after any change of up to 32 bits in a row, and two files that differ by
 * accident have the same one with a probability of 2<sup>−64</sup>. It is no protection against
 * somebody who makes another file of the same fingerprint on purpose. The CPU has instructions for
 * both, so they are computed about as fast as memory is read.
 *
 * <p>Fingerprints are remembered in the application's cache only, because a model's folder may come
 * from anywhere. One is used only if the file has the same {@link FileIdentity}. It is remembered
 * only if the file was last changed seconds ago, because a change in the same instant of the file
 * system's clock would not be noticed.
 */
public final class Fingerprints {

    private static final Logger logger = LoggerFactory.getLogger(Fingerprints.class);

    private static final String FOLDER = "fingerprints";

    /** More files than an application loads; each takes half a kilobyte. */
    private static final int MOST_FILES = 1024;

    /** Less than what the C library maps anew for each read. */
    private static final int BLOCK_BYTES = 64 << 10;

    private static final int PASS_BYTES = 4 << 20;

    /** So often is a file read that changes meanwhile. */
    private static final int MOST_READS = 3;

    private final Path folder;
    private final StoredFile<Fingerprint> format = new StoredFile<>(new FingerprintCodec());
    private final Optional<ReadPages> pages;

    /** Told which part of a file was read, and is not needed in memory for our sake. */
    @FunctionalInterface
    public interface ReadPages {

        /** Called from the file's begin to its end. */
        void release(Path file, long offsetBytes, long lengthBytes);
    }

    /**
     * @param cacheFolder the application's
     */
    public Fingerprints(Path cacheFolder) {
        this(cacheFolder, Optional.empty());
    }

    /**
     * @param cacheFolder the application's
     * @param pages told what was read
     */
    public Fingerprints(Path cacheFolder, ReadPages pages) {
        this(cacheFolder, Optional.of(pages));
    }

    private Fingerprints(Path cacheFolder, Optional<ReadPages> pages) {
        folder = cacheFolder.toAbsolutePath().resolve(FOLDER);
        this.pages = pages;
    }

    /**
     * Returns the fingerprint of a file, which is read unless that is remembered.
     *
     * @throws IOException if it cannot be read, or does not stop changing
     */
    public Fingerprint of(Path file) throws IOException {
        Path real = file.toRealPath();
        FileIdentity before = FileIdentity.of(real);
        Optional<Fingerprint> known = remembered(real);
        if (known.isPresent() && known.get().identity().equals(before)) {
            return known.get();
        }
        boolean settled = before.isSettled();
        Fingerprint computed = computed(real, before);
        if (settled && computed.identity().equals(before)) {
            remember(real, computed);
        }
        return computed;
    }

    /**
     * Returns the fingerprint of a file that this process has just written as a whole, and nobody
     * else writes to: it is remembered at once.
     *
     * @throws IOException if it cannot be read, or changes
     */
    Fingerprint ofMade(Path file) throws IOException {
        Path real = file.toRealPath();
        Fingerprint computed = computed(real, FileIdentity.of(real));
        if (computed.identity().hasChangeTime()) {
            remember(real, computed);
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
        // In contrast to a channel, it is not closed when the thread is interrupted.
        try (RandomAccessFile in = new RandomAccessFile(file.toFile(), "r")) {
            int length = in.read(block);
            while (length > 0) {
                crc.update(block, 0, length);
                other.update(block, 0, length);
                bytes += length;
                if (pages.isPresent() && bytes - released >= PASS_BYTES) {
                    pages.get().release(file, released, bytes - released);
                    released = bytes;
                }
                length = in.read(block);
            }
        }
        if (pages.isPresent() && bytes > released) {
            pages.get().release(file, released, bytes - released);
        }
        return Fingerprint.of(identity, crc.getValue(), other.getValue());
    }

    private static StoreKey key(Path file) {
        Path name = file.getFileName();
        return new StoreKey(
                name == null ? "file" : name.toString(), ImmutableMap.of("path", file.toString()));
    }

    private Optional<Fingerprint> remembered(Path file) {
        StoreKey key = key(file);
        Path place = folder.resolve(format.nameOf(key));
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS) || !KeptFolders.isFile(place)) {
            return Optional.empty();
        }
        try (InputStream in = Files.newInputStream(place, LinkOption.NOFOLLOW_LINKS)) {
            return format.read(key, in);
        } catch (IOException | RuntimeException e) {
            logger.debug("{} is of no use", place, e);
            return Optional.empty();
        }
    }

    private void remember(Path file, Fingerprint fingerprint) {
        try {
            StoreKey key = key(file);
            Files.createDirectories(folder);
            boolean isNew =
                    FileReplacement.replace(
                            folder.resolve(format.nameOf(key)),
                            ByteSource.wrap(format.toBytes(key, fingerprint)));
            if (isNew) {
                KeptFolders.evict(folder, name -> name.endsWith(".json"), MOST_FILES);
            }
        } catch (IOException | RuntimeException e) {
            logger.debug("{} will be read again", file, e);
        }
    }
}
