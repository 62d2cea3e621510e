package org.djlplan.memplan.internal.store;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.apache.commons.compress.archivers.ArchiveEntry;
import org.apache.commons.compress.archivers.ArchiveInputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.djlplan.thirdparty.guava.io.ByteStreams;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Values stored in another folder or in an archive, which is only read: even modification times
 * stay unchanged. A folder contains them directly or, like a model's folder, in {@code .djlplan};
 * an archive (zip, jar, or tar with gzip, with any name) contains them anywhere.
 *
 * @param <T> the kind of value
 */
public final class KeptElsewhere<T extends Record> {

    private static final Logger logger = LoggerFactory.getLogger(KeptElsewhere.class);

    private static final int ZIP = 0x504b;
    private static final int GZIP = 0x1f8b;

    /**
     * Limit for a tar's content, larger than models and their stored files. A small compressed
     * archive could expand to any size.
     */
    private static final long MOST_TAR_BYTES = 8L << 30;

    /** Limit of the entries with the right name in a zip. */
    private static final int MOST_ENTRIES = 64;

    private final Format<T> format;
    private final Path location;
    private final long mostTarBytes;
    private final AtomicBoolean reported = new AtomicBoolean();

    /**
     * @param location of the folder or archive; it may be a link, but entries in it may not
     */
    public KeptElsewhere(Format<T> format, Path location) {
        this(format, location, MOST_TAR_BYTES);
    }

    KeptElsewhere(Format<T> format, Path location, long mostTarBytes) {
        this.mostTarBytes = mostTarBytes;
        this.format = format;
        this.location = location;
    }

    /**
     * Returns the intact value that was stored under an equal key, if there is one; a damaged one
     * is logged once.
     *
     * @throws IOException if there is no such folder or archive, or it cannot be read
     */
    public Optional<T> load(StoreKey key) throws IOException {
        if (Files.isDirectory(location)) {
            return inFolder(key);
        }
        if (!Files.isRegularFile(location)) {
            throw new NoSuchFileException(location.toString(), null, "no folder and no archive");
        }
        try (InputStream file = new BufferedInputStream(Files.newInputStream(location))) {
            PushbackInputStream in = new PushbackInputStream(file, 2);
            byte[] magic = in.readNBytes(2);
            in.unread(magic);
            return switch (magic.length < 2 ? 0 : ((magic[0] & 0xff) << 8) | (magic[1] & 0xff)) {
                case ZIP -> inZip(key);
                case GZIP -> inTar(key, in);
                default -> throw new IOException(location + " is no zip and no tar.gz");
            };
        }
    }

    private Optional<T> inFolder(StoreKey key) throws IOException {
        Path beside = location.resolve(KeptFolders.BESIDE_MODEL);
        List<Path> folders =
                Files.isDirectory(beside, LinkOption.NOFOLLOW_LINKS)
                        ? List.of(location, beside)
                        : List.of(location);
        for (Path folder : folders) {
            Path file = folder.resolve(format.nameOf(key));
            // Opening a pipe would wait for a writer, and a link may point anywhere.
            if (KeptFolders.isFile(file)) {
                try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
                    Optional<T> value = read(key, in);
                    if (value.isPresent()) {
                        return value;
                    }
                }
            }
        }
        return Optional.empty();
    }

    private Optional<T> inZip(StoreKey key) throws IOException {
        try (ZipFile zip = new ZipFile(location.toFile())) {
            for (ZipEntry entry :
                    zip.stream().filter(e -> isOf(key, e.getName())).limit(MOST_ENTRIES).toList()) {
                try (InputStream in = zip.getInputStream(entry)) {
                    Optional<T> value = read(key, in);
                    if (value.isPresent()) {
                        return value;
                    }
                }
            }
        }
        return Optional.empty();
    }

    private Optional<T> inTar(StoreKey key, InputStream compressed) throws IOException {
        // The general type is used, because the return type of the specific method differs between
        // versions.
        try (ArchiveInputStream<?> tar =
                new TarArchiveInputStream(
                        new BufferedInputStream(
                                ByteStreams.limit(
                                        new GZIPInputStream(compressed), mostTarBytes)))) {
            ArchiveEntry entry = tar.getNextEntry();
            while (entry != null) {
                if (!entry.isDirectory() && isOf(key, entry.getName())) {
                    Optional<T> value = read(key, tar);
                    if (value.isPresent()) {
                        return value;
                    }
                }
                entry = tar.getNextEntry();
            }
        } catch (IllegalArgumentException e) {
            // The archive reader throws this for some headers.
            throw new IOException(location + ": " + e.getMessage(), e);
        }
        return Optional.empty();
    }

    private boolean isOf(StoreKey key, String entry) {
        return format.nameOf(key).equals(entry.substring(entry.lastIndexOf('/') + 1));
    }

    private Optional<T> read(StoreKey key, InputStream in) {
        try {
            return Optional.of(format.read(key, in));
        } catch (IOException | RuntimeException e) {
            if (!reported.getAndSet(true)) {
                logger.warn(
                        "The {} of {} in {} cannot be used ({})",
                        format.kind(),
                        key.model(),
                        location,
                        FolderStore.reason(e));
            }
            return Optional.empty();
        }
    }
}
