package org.djlplan.memplan.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/** A new memory cgroup (version 1) for one test. Processes in the group are killed at its limit. */
public final class MemoryGroup implements AutoCloseable {

    private final ControlGroup group;

    private MemoryGroup(ControlGroup group) {
        this.group = group;
    }

    /** Makes a group. If that is not possible, the test is skipped with the reason. */
    public static MemoryGroup of(long limitBytes) {
        try {
            MemoryGroup memory = new MemoryGroup(new ControlGroup("memory"));
            memory.limit(limitBytes);
            return memory;
        } catch (IOException e) {
            return Assumptions.abort("no memory cgroup of version 1 can be made here: " + e);
        }
    }

    /** Sets another limit. */
    public void limit(long limitBytes) throws IOException {
        group.set("memory.limit_in_bytes", Long.toString(limitBytes));
    }

    /** Returns the bytes that are charged now, including page cache. */
    public long usedBytes() throws IOException {
        return number("memory.usage_in_bytes");
    }

    /** Returns the peak of the charged bytes since {@link #resetPeak()}. */
    public long peakBytes() throws IOException {
        return number("memory.max_usage_in_bytes");
    }

    /** Makes the peak start again at the bytes that are charged now. */
    public void resetPeak() throws IOException {
        group.set("memory.max_usage_in_bytes", "0");
    }

    private long number(String file) throws IOException {
        return Long.parseLong(Files.readString(group.file(file)).strip());
    }

    /** Returns the file to which a process writes its id to join the group. */
    public String processes() {
        return group.file("cgroup.procs").toString();
    }

    /** Returns the words to put before a command so that it runs in the group. */
    public List<String> inside() {
        return List.of("sh", "-c", "echo $$ > " + processes() + "; exec \"$@\"", "sh");
    }

    /** Removes the group, once its last process is gone. */
    @Override
    public void close() {
        group.close();
    }
}
