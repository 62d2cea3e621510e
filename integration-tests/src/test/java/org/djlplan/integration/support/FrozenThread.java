package org.djlplan.integration.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.djlplan.memplan.testing.ControlGroup;
import org.junit.jupiter.api.Assumptions;

/**
 * Freezes threads of another process, in a freezer control group (version 1), until this object is
 * closed.
 */
public final class FrozenThread implements AutoCloseable {

    private final String name;
    private final ControlGroup group;
    private final List<String> threads;

    /**
     * Freezes all threads with a name. If that is not possible, the test is skipped with the
     * reason.
     *
     * @param pid the process
     * @param name the thread's name in Linux, at most 15 bytes
     */
    public static FrozenThread of(long pid, String name) throws IOException {
        List<String> threads = threads(pid, name);
        if (threads.isEmpty()) {
            throw new IllegalArgumentException("no thread " + name + " in process " + pid);
        }
        try {
            ControlGroup group = new ControlGroup("freezer");
            for (String thread : threads) {
                group.set("tasks", thread);
            }
            group.set("freezer.state", "FROZEN");
            return new FrozenThread(name, group, threads);
        } catch (IOException e) {
            return Assumptions.abort("no freezer of version 1 can be made here: " + e);
        }
    }

    private FrozenThread(String name, ControlGroup group, List<String> threads) {
        this.name = name;
        this.group = group;
        this.threads = threads;
    }

    private static List<String> threads(long pid, String name) throws IOException {
        try (Stream<Path> tasks = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
            return tasks.filter(task -> name.equals(nameOf(task)))
                    .map(task -> task.getFileName().toString())
                    .toList();
        }
    }

    private static String nameOf(Path task) {
        try {
            return Files.readString(task.resolve("comm")).strip();
        } catch (IOException e) {
            // It has ended.
            return "";
        }
    }

    /** Returns the threads' name. */
    public String name() {
        return name;
    }

    @Override
    public void close() throws IOException {
        group.set("freezer.state", "THAWED");
        for (String thread : threads) {
            group.release(thread);
        }
        group.close();
    }
}
