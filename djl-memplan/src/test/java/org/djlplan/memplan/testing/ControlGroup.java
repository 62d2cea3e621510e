package org.djlplan.memplan.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

/** A new control group (version 1) for one test. */
public final class ControlGroup implements AutoCloseable {

    private static final AtomicInteger MADE = new AtomicInteger();

    private final Path folder;

    /**
     * Makes one.
     *
     * @param controller such as {@code memory}
     * @throws IOException if none can be made here
     */
    public ControlGroup(String controller) throws IOException {
        folder =
                Path.of(
                        "/sys/fs/cgroup",
                        controller,
                        "djlplan-test-"
                                + ProcessHandle.current().pid()
                                + "-"
                                + MADE.incrementAndGet());
        Files.createDirectories(folder);
    }

    /** Returns one of its files. */
    public Path file(String name) {
        return folder.resolve(name);
    }

    /** Writes one of its files. */
    public void set(String name, String value) throws IOException {
        Files.writeString(file(name), value);
    }

    /** Moves a thread from it to the root group. */
    public void release(String thread) throws IOException {
        Files.writeString(folder.resolveSibling("tasks"), thread);
    }

    /** Removes the group, once its last process is gone. */
    @Override
    public void close() {
        Await.until(
                () -> {
                    try {
                        return Files.deleteIfExists(folder) || !Files.exists(folder);
                    } catch (IOException e) {
                        return false;
                    }
                });
    }
}
