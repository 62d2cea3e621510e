package org.djlplan.memplan.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
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

    /** Returns what is charged now, page cache included. */
    public long usedBytes() throws IOException {
        return number("memory.usage_in_bytes");
    }

    /** Returns the most that was charged at once since {@link #resetPeak()}. */
    public long peakBytes() throws IOException {
        return number("memory.max_usage_in_bytes");
    }

    /** Makes the peak start again at what is charged now. */
    public void resetPeak() throws IOException {
        Files.writeString(folder.resolve("memory.max_usage_in_bytes"), "0");
    }

    private long number(String file) throws IOException {
        return Long.parseLong(Files.readString(folder.resolve(file)).strip());
    }

    /** Returns the file to which a process writes its number in order to be in the group. */
    public String processes() {
        return folder.resolve("cgroup.procs").toString();
    }

    /** Returns what to put before a command so that it runs in the group. */
    public List<String> inside() {
        return List.of("sh", "-c", "echo $$ > " + processes() + "; exec \"$@\"", "sh");
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
