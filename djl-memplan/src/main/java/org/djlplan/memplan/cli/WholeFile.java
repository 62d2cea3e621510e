package org.djlplan.memplan.cli;

import com.google.common.annotations.VisibleForTesting;
import com.google.common.io.ByteSource;
import com.google.common.io.MoreFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.djlplan.memplan.store.FileReplacement;

/**
 * Writes what a command was asked for: all of it or nothing, also when it is interrupted. A signal
 * waits for the file that is being written, and no other is begun.
 */
public final class WholeFile {

    /** Of the thread that waits; the system knows 15 bytes of a name. */
    static final String HOOK = "djl-plan-files";

    /** A disk that takes longer is not waited for: the file keeps its name, and a piece is left. */
    private static final long PATIENCE_SECONDS = 30;

    /**
     * Held while a file is written, and from when the JVM ends on; fair, so that it gets its turn.
     */
    private static final ReentrantLock writing = new ReentrantLock(true);

    static {
        try {
            Runtime.getRuntime().addShutdownHook(new Thread(WholeFile::awaitWriting, HOOK));
        } catch (IllegalStateException e) {
            // The JVM is ending already, and nobody interrupts that.
        }
    }

    private WholeFile() {}

    /** Returns whether somebody waits for the file that is being written. */
    @VisibleForTesting
    static boolean isAwaited() {
        return writing.hasQueuedThreads();
    }

    /** Does not unlock. */
    private static void awaitWriting() {
        try {
            boolean unused = writing.tryLock(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Writes a text in UTF-8. */
    public static void write(Path file, String text) throws IOException {
        write(file, ByteSource.wrap(text.getBytes(StandardCharsets.UTF_8)));
    }

    /** Writes beside and renames; into a pipe or a device as it is. */
    static void write(Path file, ByteSource content) throws IOException {
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            // Its reader may never read: that is not waited for.
            content.copyTo(MoreFiles.asByteSink(file));
            return;
        }
        writing.lock();
        try {
            boolean unused =
                    FileReplacement.replace(
                            Files.exists(file) ? file.toRealPath() : file.toAbsolutePath(),
                            content);
        } finally {
            writing.unlock();
        }
    }
}
