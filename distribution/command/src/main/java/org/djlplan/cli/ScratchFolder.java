package org.djlplan.cli;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import org.djlplan.thirdparty.guava.io.MoreFiles;
import org.djlplan.thirdparty.guava.io.RecursiveDeleteOption;

/**
 * A command's temporary folder, which is deleted when the command ends, even if a signal ends the
 * JVM.
 */
final class ScratchFolder implements Closeable {

    /** Other processes may add files during the deletion. */
    private static final int ATTEMPTS = 5;

    private final Path path;
    private final Thread atExit = new Thread(this::deleteIfPossible, "djl-plan-scratch-folder");

    private ScratchFolder(Path path) {
        this.path = path;
    }

    /**
     * Creates a folder.
     *
     * @param name prefix of the folder's name
     */
    static ScratchFolder create(String name) throws IOException {
        ScratchFolder folder = new ScratchFolder(Files.createTempDirectory(name));
        try {
            Runtime.getRuntime().addShutdownHook(folder.atExit);
        } catch (IllegalStateException e) {
            // The JVM is already shutting down.
            folder.delete();
            throw e;
        }
        return folder;
    }

    Path path() {
        return path;
    }

    private void delete() throws IOException {
        MoreFiles.deleteRecursively(path, RecursiveDeleteOption.ALLOW_INSECURE);
    }

    private void deleteIfPossible() {
        for (int i = 0; i < ATTEMPTS && Files.exists(path, LinkOption.NOFOLLOW_LINKS); i++) {
            try {
                delete();
            } catch (IOException e) {
                // Another process still writes files: try once more.
            }
        }
    }

    /** Deletes it. The hook stays until then, because a signal may arrive meanwhile. */
    @Override
    public void close() throws IOException {
        try {
            delete();
        } catch (IOException e) {
            if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
                throw e;
            }
        } finally {
            removeHook();
        }
    }

    private void removeHook() {
        try {
            boolean unused = Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException e) {
            // The JVM is shutting down, and waits for the deletion.
        }
    }
}
