package org.djlplan.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.djlplan.memplan.internal.store.FileReplacement;
import org.djlplan.thirdparty.guava.annotations.VisibleForTesting;
import org.djlplan.thirdparty.guava.io.ByteSource;
import org.djlplan.thirdparty.guava.io.MoreFiles;

/**
 * Writes output files of a command completely or not at all, even if the command is interrupted. On
 * a signal, the JVM waits for the file that is being written, and no other file is started.
 */
public final class WholeFile {

    /** Name of the waiting thread; the system shows only 15 bytes of a name. */
    static final String HOOK = "djl-plan-files";

    /**
     * If the disk takes longer, the JVM ends: the old file keeps its name, and a partial file
     * remains.
     */
    private static final long PATIENCE_SECONDS = 30;

    /**
     * Held while a file is written, and permanently once the JVM is shutting down; fair, so that
     * the shutdown hook gets its turn.
     */
    private static final ReentrantLock writing = new ReentrantLock(true);

    static {
        try {
            Runtime.getRuntime().addShutdownHook(new Thread(WholeFile::awaitWriting, HOOK));
        } catch (IllegalStateException e) {
            // The JVM is already shutting down, and nothing interrupts that.
        }
    }

    private WholeFile() {}

    /** Returns whether the shutdown hook waits for the file that is being written. */
    @VisibleForTesting
    static boolean isAwaited() {
        return writing.hasQueuedThreads();
    }

    /** Waits for the file that is being written, and keeps the lock. */
    private static void awaitWriting() {
        try {
            boolean unused = writing.tryLock(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Fails early, before minutes are spent on the content.
     *
     * @throws Failure if the file cannot be written
     */
    public static void check(Path file) throws IOException {
        if (Files.isDirectory(file)) {
            throw new Failure("a folder, not a file: " + file);
        }
        if (Files.exists(file) && !Files.isWritable(file)) {
            throw new Failure("cannot write: " + file);
        }
        if (isNoRegularFile(file)) {
            return;
        }
        Path folder = target(file).getParent();
        if (folder == null || !Files.isDirectory(folder)) {
            throw new Failure("no such folder: " + folder);
        }
        if (!Files.isWritable(folder)) {
            throw new Failure("cannot write into the folder " + folder);
        }
    }

    /** Returns whether this is a pipe or a device, which is not replaced. */
    private static boolean isNoRegularFile(Path file) {
        return Files.exists(file) && !Files.isRegularFile(file);
    }

    /** Returns the file that is replaced. */
    private static Path target(Path file) throws IOException {
        return Files.exists(file) ? file.toRealPath() : file.toAbsolutePath();
    }

    /** Writes a text in UTF-8. */
    public static void write(Path file, String text) throws IOException {
        write(file, ByteSource.wrap(text.getBytes(StandardCharsets.UTF_8)));
    }

    /** Writes to a temporary file and renames it; writes directly into a pipe or a device. */
    static void write(Path file, ByteSource content) throws IOException {
        if (isNoRegularFile(file)) {
            // A pipe's reader may never read, so the shutdown hook does not wait for it.
            content.copyTo(MoreFiles.asByteSink(file));
            return;
        }
        writing.lock();
        try {
            FileReplacement.replace(target(file), content);
        } finally {
            writing.unlock();
        }
    }
}
