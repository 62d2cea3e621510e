package org.djlplan.memplan.internal.runtime.tflite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EngineLibraryTest {

    private static final String OTHER =
            "7f0a5c000000-7f0a5c021000 rw-p 00000000 00:00 0 \n"
                    + "7f0a5d000000-7f0a5d021000 r-xp 00000000 08:01 12      /lib/libc.so.6\n";

    @TempDir private Path folder;

    private Optional<Path> find(String mappings) throws IOException {
        return EngineLibrary.find(Files.writeString(folder.resolve("maps"), mappings));
    }

    @Test
    void find_loaded_isItsFile() throws IOException {
        String line =
                "7f0a5e000000-7f0a5e021000 r-xp 00000000 08:01 34      "
                        + "/home/ä user/.djl.ai/tflite/libtensorflowlite_jni.so\n";
        assertEquals(
                Optional.of(Path.of("/home/ä user/.djl.ai/tflite/libtensorflowlite_jni.so")),
                find(OTHER + line + line));
    }

    @Test
    void find_bothReleases_isTheOneOfDjl() throws IOException {
        String later = "1-2 r-xp 0 08:01 34  /tmp/libjnitensorflowlite.so\n";
        assertEquals(Optional.of(Path.of("/tmp/libjnitensorflowlite.so")), find(OTHER + later));
        assertEquals(
                Optional.of(Path.of("/tmp/libtensorflowlite_jni.so")),
                find(later + "3-4 r-xp 0 08:01 35  /tmp/libtensorflowlite_jni.so\n"));
    }

    @Test
    void find_notLoadedOrDeleted_isEmpty() throws IOException {
        assertEquals(Optional.empty(), find(OTHER));
        assertEquals(
                Optional.empty(),
                find("1-2 r-xp 0 08:01 34  /tmp/libtensorflowlite_jni.so (deleted)\n"));
        assertEquals(Optional.empty(), EngineLibrary.find(folder.resolve("absent")));
    }

    @Test
    void loaded_notLoaded_throws() {
        assertThrows(UnplannableException.class, EngineLibrary::loaded);
    }
}
