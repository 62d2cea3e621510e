package org.djlplan.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.djlplan.thirdparty.guava.base.Splitter;

/**
 * A memory control group (Linux, version 1 or 2) for one child process: it reports the memory that
 * the group is charged for, including file pages, and can limit it. The group is removed when it is
 * closed or this JVM ends, unless the JVM is killed.
 */
final class MemoryGroup implements AutoCloseable {

    private static final Path MOUNTED = Path.of("/sys/fs/cgroup");
    private static final String CONTROLLER = "memory";
    private static final AtomicInteger MADE = new AtomicInteger();

    /** How long to wait until a process that has ended leaves its group. */
    private static final Duration PATIENCE = Duration.ofSeconds(3);

    private static final long POLL_MILLIS = 20;

    private final Path folder;
    private final boolean unified;
    private final Thread atExit = new Thread(this::remove, "djl-plan-memory-group");

    private MemoryGroup(Path folder, boolean unified) {
        this.folder = folder;
        this.unified = unified;
    }

    /** Creates a group without a limit; empty if that is impossible, because it needs root. */
    static Optional<MemoryGroup> make() {
        return make(MOUNTED);
    }

    /**
     * Creates a group like {@link #make()}, where control groups are mounted elsewhere.
     *
     * @param mounted folder of the unified hierarchy, or of version 1's controllers
     */
    static Optional<MemoryGroup> make(Path mounted) {
        boolean unified = Files.exists(mounted.resolve("cgroup.controllers"));
        Path parent = unified ? mounted : mounted.resolve(CONTROLLER);
        String name = "djlplan-" + ProcessHandle.current().pid() + "-" + MADE.incrementAndGet();
        try {
            if (unified && !controls(parent)) {
                Files.writeString(parent.resolve("cgroup.subtree_control"), "+" + CONTROLLER);
            }
            MemoryGroup group =
                    new MemoryGroup(Files.createDirectory(parent.resolve(name)), unified);
            Runtime.getRuntime().addShutdownHook(group.atExit);
            group.forbidSwap();
            return Optional.of(group);
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static boolean controls(Path parent) throws IOException {
        return Splitter.on(' ')
                .splitToList(Files.readString(parent.resolve("cgroup.subtree_control")).strip())
                .contains(CONTROLLER);
    }

    /** Without swap there is nothing to disable. */
    private void forbidSwap() throws IOException {
        Path file = folder.resolve(unified ? "memory.swap.max" : "memory.swappiness");
        if (Files.exists(file)) {
            Files.writeString(file, "0");
        }
    }

    /** Returns the command prefix that starts a process in the group. */
    List<String> starter() {
        return List.of("sh", "-c", "echo $$ > '" + folder + "/cgroup.procs'; exec \"$@\"", "sh");
    }

    /** Returns the bytes that the group is charged for now. */
    long usedBytes() {
        return number(unified ? "memory.current" : "memory.usage_in_bytes");
    }

    /** Returns the part of these bytes that is file pages that no process has mapped. */
    long reclaimableBytes() {
        String before = unified ? "" : "total_";
        long files = statistic(before + "inactive_file") + statistic(before + "active_file");
        return Math.max(0, files - statistic(unified ? "file_mapped" : "total_mapped_file"));
    }

    /** Limits the group to this many bytes from now on. */
    void limit(long bytes) {
        try {
            Files.writeString(
                    folder.resolve(unified ? "memory.max" : "memory.limit_in_bytes"),
                    Long.toString(bytes));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot limit " + folder + " to " + bytes, e);
        }
    }

    private long number(String file) {
        try {
            return Long.parseLong(Files.readString(folder.resolve(file)).strip());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + folder.resolve(file), e);
        }
    }

    private long statistic(String name) {
        try (var lines = Files.lines(folder.resolve("memory.stat"))) {
            return lines.filter(line -> line.startsWith(name + " "))
                    .mapToLong(line -> Long.parseLong(line.substring(name.length() + 1).strip()))
                    .findFirst()
                    .orElse(0);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read statistics of " + folder, e);
        }
    }

    /** Removes the group; its process must have ended. */
    @Override
    public void close() {
        remove();
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException e) {
            // The JVM is shutting down, so its hook removes the group.
            return;
        }
    }

    private void remove() {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!isRemoved() && System.nanoTime() < end) {
            try {
                Thread.sleep(POLL_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    private boolean isRemoved() {
        try {
            return Files.deleteIfExists(folder) || !Files.exists(folder);
        } catch (IOException e) {
            // The process has not ended yet.
            return false;
        }
    }
}
