package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests memory control groups on folders that imitate the system's. */
class MemoryGroupTest {

    @TempDir Path mounted;

    private Path only(Path parent) throws IOException {
        try (Stream<Path> folders = Files.list(parent)) {
            List<Path> found = folders.filter(Files::isDirectory).toList();
            assertEquals(1, found.size());
            return found.get(0);
        }
    }

    private static void write(Path group, String file, String text) throws IOException {
        Files.writeString(group.resolve(file), text);
    }

    /** Deletes a group's files, as the system does when it removes the group. */
    private static void empty(Path group) throws IOException {
        try (Stream<Path> files = Files.list(group)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
    }

    @Test
    void make_version1_readsLimitsAndRemoves() throws IOException {
        Path parent = Files.createDirectory(mounted.resolve("memory"));
        try (MemoryGroup group = MemoryGroup.make(mounted).orElseThrow()) {
            Path folder = only(parent);
            write(folder, "memory.usage_in_bytes", "1000\n");
            write(
                    folder,
                    "memory.stat",
                    "inactive_file 1\ntotal_mapped_file 100\ntotal_inactive_file 300\n"
                            + "total_active_file 200\n");
            assertEquals(1000, group.usedBytes());
            assertEquals(400, group.reclaimableBytes());
            group.limit(5000);
            assertEquals("5000", Files.readString(folder.resolve("memory.limit_in_bytes")));
            assertEquals(
                    List.of(
                            "sh",
                            "-c",
                            "echo $$ > '" + folder + "/cgroup.procs'; exec \"$@\"",
                            "sh"),
                    group.starter());
            empty(folder);
        }
        try (Stream<Path> left = Files.list(parent)) {
            assertEquals(0, left.count());
        }
    }

    @Test
    void make_version2_switchesTheControllerOn() throws IOException {
        write(mounted, "cgroup.controllers", "cpu memory\n");
        write(mounted, "cgroup.subtree_control", "cpu\n");
        try (MemoryGroup group = MemoryGroup.make(mounted).orElseThrow()) {
            assertEquals("+memory", Files.readString(mounted.resolve("cgroup.subtree_control")));
            Path folder = only(mounted);
            write(folder, "memory.current", "1000\n");
            write(folder, "memory.stat", "file_mapped 90\ninactive_file 50\nactive_file 20\n");
            assertEquals(1000, group.usedBytes());
            assertEquals(0, group.reclaimableBytes());
            group.limit(5000);
            assertEquals("5000", Files.readString(folder.resolve("memory.max")));
            empty(folder);
        }
    }

    @Test
    void make_noGroupsMounted_isEmpty() {
        assertEquals(Optional.empty(), MemoryGroup.make(mounted));
        assertFalse(Files.exists(mounted.resolve("memory")));
    }
}
