package org.djlplan.memplan.internal.store;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Replaces files atomically: readers see the old or the new content, even while several JVMs write.
 * The disk is not flushed, because readers detect a file that a power failure has damaged.
 */
public final class FileReplacement {

    /** The writer of a temporary file of this age no longer exists. */
    static final Duration ABANDONED_AFTER = Duration.ofHours(1);

    private FileReplacement() {}

    /** Makes a file. */
    @FunctionalInterface
    interface Content {

        /**
         * Writes all of it.
         *
         * @param file must not exist; creating it must fail if it does
         */
        void writeTo(Path file) throws IOException;
    }

    /**
     * Replaces the content of a file in an existing folder. If that fails, the file is unchanged.
     * Temporary files of killed JVMs in the folder are removed.
     *
     * @throws IOException if the folder or the content fails, or the file's name belongs to
     *     something else, such as a link
     */
    public static void replace(Path file, byte[] content) throws IOException {
        replace(file, bytes(content));
    }

    /** Returns content that is in memory. */
    static Content bytes(byte[] content) {
        // Not Files.createTempFile, which makes files readable by their owner only. CREATE_NEW
        // fails if there is a link of this name.
        return file ->
                Files.write(file, content, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    }

    /**
     * Replaces a file by content that is written piece by piece, because it should not be in memory
     * at once.
     */
    static void replace(Path file, Content content) throws IOException {
        if (Files.exists(file, LinkOption.NOFOLLOW_LINKS) && !KeptFolders.isFile(file)) {
            throw new FileSystemException(file.toString(), null, "not a file");
        }
        removeAbandoned(file.toAbsolutePath().getParent());
        String unique = Long.toHexString(ThreadLocalRandom.current().nextLong());
        Path temporary =
                file.resolveSibling(ReadableNames.temporary(file.getFileName().toString(), unique));
        try {
            content.writeTo(temporary);
            // Replaces the name, never the target of a link.
            Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException | RuntimeException e) {
            try {
                Files.deleteIfExists(temporary);
            } catch (IOException suppressed) {
                e.addSuppressed(suppressed);
            }
            throw e;
        }
    }

    /**
     * Only files with djl-plan's temporary names are removed, because others may have any name and
     * age.
     */
    private static void removeAbandoned(Path folder) {
        Instant oldest = Instant.now().minus(ABANDONED_AFTER);
        try {
            for (Path file : KeptFolders.files(folder, ReadableNames::isTemporary)) {
                if (Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS)
                        .toInstant()
                        .isBefore(oldest)) {
                    Files.deleteIfExists(file);
                }
            }
        } catch (IOException e) {
            // They only take room. Another JVM may be removing them, or the folder is unusable,
            // which writing will report.
            return;
        }
    }
}
