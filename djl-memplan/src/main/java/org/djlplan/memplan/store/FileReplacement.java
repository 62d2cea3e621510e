package org.djlplan.memplan.store;

import com.google.common.io.ByteSource;
import java.io.IOException;
import java.io.OutputStream;
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
 * Replaces files as a whole: whoever reads one sees the old or the new, also while several JVMs
 * write. The disk is not asked to flush, as a file torn by a power failure is told by its checksum.
 */
public final class FileReplacement {

    /** A temporary file this old has no writer any more. */
    static final Duration ABANDONED_AFTER = Duration.ofHours(1);

    private FileReplacement() {}

    /** Makes a file. */
    @FunctionalInterface
    interface Content {

        /**
         * Writes all of it.
         *
         * @param file does not exist, and fails to be created if it does
         */
        void writeTo(Path file) throws IOException;
    }

    /**
     * Makes {@code content} the content of a file in an existing folder. When that fails the file
     * is as before. Temporary files that a killed JVM left in the folder are removed.
     *
     * @return whether there was no file
     * @throws IOException if the folder or the content is at fault, or something else than a file,
     *     such as a link, has the file's name
     */
    public static boolean replace(Path file, ByteSource content) throws IOException {
        return replace(file, temporary -> copy(content, temporary));
    }

    private static void copy(ByteSource content, Path file) throws IOException {
        // Not Files.createTempFile: its files are for their owner only, models may be for all.
        // A new file: if a link has its name, this fails.
        try (OutputStream out =
                Files.newOutputStream(
                        file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            content.copyTo(out);
        }
    }

    /** As the other, for content that is more than is to be in memory at once. */
    static boolean replace(Path file, Content content) throws IOException {
        boolean isNew = Files.notExists(file, LinkOption.NOFOLLOW_LINKS);
        if (!isNew && !KeptFolders.isFile(file)) {
            throw new FileSystemException(file.toString(), null, "not a file");
        }
        removeAbandoned(file.toAbsolutePath().getParent());
        String unique = Long.toHexString(ThreadLocalRandom.current().nextLong());
        Path temporary =
                file.resolveSibling(ReadableNames.temporary(file.getFileName().toString(), unique));
        try {
            content.writeTo(temporary);
            // Replaces a name, never what a link leads to.
            Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException | RuntimeException e) {
            try {
                Files.deleteIfExists(temporary);
            } catch (IOException suppressed) {
                e.addSuppressed(suppressed);
            }
            throw e;
        }
        return isNew;
    }

    /** Others' files may have any name and any age: only those go that have a name of ours. */
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
            // which writing will tell.
            return;
        }
    }
}
