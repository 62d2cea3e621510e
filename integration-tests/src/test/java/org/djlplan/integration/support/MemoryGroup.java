package org.djlplan.integration.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.Assumptions;

/** A memory cgroup (version 1) of a test's own, in which processes are killed at a limit. */
public final class MemoryGroup implements AutoCloseable {

    private static final Path GROUPS = Path.of("/sys/fs/cgroup/memory");
    private static final AtomicInteger MADE = new AtomicInteger();

    private final Path folder;

    private MemoryGroup(Path folder) {
        this.folder = folder;
    }

    /** Makes a group; where none can be made the test is skipped, with the reason. */
    public static MemoryGroup of(long limitBytes) {
        MemoryGroup group =
                new MemoryGroup(
                        GROUPS.resolve(
                                "djlplan-test-"
                                        + ProcessHandle.current().pid()
                                        + "-"
                                        + MADE.incrementAndGet()));
        try {
            Files.createDirectories(group.folder);
            group.limit(limitBytes);
            return group;
        } catch (IOException e) {
            return Assumptions.abort("no memory cgroup of version 1 can be made here: " + e);
        }
    }

    /** Sets another limit. */
    public void limit(long limitBytes) throws IOException {
        Files.writeString(folder.resolve("memory.limit_in_bytes"), Long.toString(limitBytes));
    }

    /** Returns what to put before a command so that it runs in the group. */
    public List<String> inside() {
        return List.of("sh", "-c", "echo $$ > " + folder + "/cgroup.procs; exec \"$@\"", "sh");
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
