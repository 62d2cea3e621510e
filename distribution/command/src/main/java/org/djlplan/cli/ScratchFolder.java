package org.djlplan.cli;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.djlplan.memplan.internal.measure.TemporaryFolder;

/**
 * A command's temporary folder, which is deleted when the command ends, even if a signal ends the
 * JVM.
 */
final class ScratchFolder implements Closeable {

    private final Path path;
    private final Thread atExit = new Thread(this::delete, "djl-plan-scratch-folder");

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

    private void delete() {
        TemporaryFolder.delete(path);
    }

    /** Deletes it. The hook stays until then, because a signal may arrive meanwhile. */
    @Override
    public void close() {
        delete();
        try {
            boolean unused = Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException e) {
            // The JVM is shutting down, and waits for the deletion.
        }
    }
}
