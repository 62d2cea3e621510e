package org.djlplan.integration.support;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/** An in-memory file system of a given size. */
public record TmpFs(Path folder) implements AutoCloseable {

    /**
     * Mounts a file system. If that is not allowed, the test is skipped with the reason.
     *
     * @param folder an empty folder
     * @param size in the format of {@code mount}, such as {@code 60m}
     */
    public static TmpFs mount(Path folder, String size) throws IOException {
        if (run("mount", "-t", "tmpfs", "-o", "size=" + size, "tmpfs", folder.toString()) != 0) {
            return Assumptions.abort("no file system can be mounted here");
        }
        return new TmpFs(folder);
    }

    /** Gives it another size. */
    public void resize(String size) throws IOException {
        if (run("mount", "-o", "remount,size=" + size, folder.toString()) != 0) {
            throw new IOException("cannot resize " + folder);
        }
    }

    private static int run(String... command) throws IOException {
        Process process = new ProcessBuilder(List.of(command)).inheritIO().start();
        return process.onExit().join().exitValue();
    }

    @Override
    public void close() throws IOException {
        if (run("umount", folder.toString()) != 0) {
            throw new IOException("cannot unmount " + folder);
        }
    }
}
