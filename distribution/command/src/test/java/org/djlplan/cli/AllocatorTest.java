package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AllocatorTest {

    @TempDir Path root;

    @Test
    void jemalloc_notInstalled_isEmpty() throws IOException {
        Files.createDirectories(root.resolve("usr/lib/x86_64-linux-gnu"));
        assertEquals(Optional.empty(), Allocator.jemalloc(root));
    }

    @Test
    void jemalloc_inTheFolderOfAnArchitecture_isFound() throws IOException {
        Path library = root.resolve("usr/lib/aarch64-linux-gnu/libjemalloc.so.2");
        Files.createDirectories(library.getParent());
        Files.createFile(library);
        assertEquals(Optional.of(library), Allocator.jemalloc(root));
    }

    @Test
    void jemalloc_ownBuild_comesFirst() throws IOException {
        for (String folder : new String[] {"usr/lib64", "usr/local/lib"}) {
            Files.createDirectories(root.resolve(folder));
            Files.createFile(root.resolve(folder).resolve("libjemalloc.so.2"));
        }
        assertEquals(
                Optional.of(root.resolve("usr/local/lib/libjemalloc.so.2")),
                Allocator.jemalloc(root));
    }

    @Test
    void environment_tunedMalloc_keepsBlocksOfAGibibyte() {
        Map<String, String> environment = Allocator.TUNED_MALLOC.environment().orElseThrow();
        assertEquals(
                Map.of(
                        "MALLOC_MMAP_THRESHOLD_", "1073741824",
                        "MALLOC_TRIM_THRESHOLD_", "1073741824"),
                environment);
    }
}
