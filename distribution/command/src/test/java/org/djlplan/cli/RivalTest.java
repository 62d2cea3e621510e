package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RivalTest {

    @TempDir Path folder;

    @Test
    void convert_folderOfOldDjl_putsItsJarsInThePlaceOfOurs() throws Exception {
        Path jar = Files.createFile(folder.resolve("api-0.27.0.jar"));
        Path unused = Files.createFile(folder.resolve("notes.txt"));
        Rival rival = Rival.parse("djl-0.27=" + folder);
        assertEquals("djl-0.27", rival.name());
        assertTrue(rival.classPath().orElseThrow().startsWith(jar + File.pathSeparator));
    }

    @Test
    void beside_jarsOfOneRelease_areLeftOut() {
        String ours =
                String.join(
                        File.pathSeparator,
                        "/m/api-1.jar",
                        "/m/tokenizers-1.jar",
                        "/m/gson-2.jar",
                        "/m/classes");
        assertEquals(
                String.join(File.pathSeparator, "old.jar", "/m/gson-2.jar", "/m/classes"),
                Rival.classPathWith(List.of("old.jar"), ours));
    }

    @Test
    void check_oldDjlWithoutPath_requiresPath() throws Exception {
        Rival rival = Rival.parse("djl-0.27");
        Exception e =
                assertThrows(IllegalArgumentException.class, () -> rival.check(EngineKind.TFLITE));
        assertTrue(e.getMessage().contains("djl-0.27=FOLDER"), e.getMessage());
    }

    @Test
    void check_oldDjlForPyTorch_isRefused() throws Exception {
        Rival rival = Rival.parse("djl-0.27=" + folder);
        rival.check(EngineKind.TFLITE);
        Exception e =
                assertThrows(IllegalArgumentException.class, () -> rival.check(EngineKind.PYTORCH));
        assertTrue(e.getMessage().contains("TFLite models only"), e.getMessage());
    }

    @Test
    void jemalloc_severalFolders_theOwnBuildComesFirst() throws IOException {
        assertEquals(Optional.empty(), Rival.jemalloc(folder));
        for (String each : new String[] {"usr/lib/aarch64-linux-gnu", "usr/local/lib"}) {
            Path library = folder.resolve(each).resolve("libjemalloc.so.2");
            Files.createDirectories(library.getParent());
            Files.createFile(library);
            assertEquals(Optional.of(library), Rival.jemalloc(folder));
        }
    }
}
