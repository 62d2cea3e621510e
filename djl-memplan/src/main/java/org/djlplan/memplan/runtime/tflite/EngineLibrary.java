package org.djlplan.memplan.runtime.tflite;

import com.sun.jna.NativeLibrary;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The engine's native library as it is loaded in this process.
 *
 * @param file where it was loaded from
 * @param version of TensorFlow Lite, as it tells itself
 */
public record EngineLibrary(Path file, String version) {

    private static final String NAME = "libtensorflowlite_jni.so";
    private static final Path MAPPINGS = Path.of("/proc/self/maps");
    private static final int PATH_COLUMN = 6;

    /**
     * Returns it.
     *
     * @throws UnplannableException if it is not loaded, or from a file that was deleted since
     */
    public static EngineLibrary loaded() throws UnplannableException {
        Path file =
                find(MAPPINGS)
                        .orElseThrow(
                                () ->
                                        new UnplannableException(
                                                "TensorFlow Lite is not loaded from a file that is still there"));
        try {
            String version =
                    NativeLibrary.getInstance(file.toString())
                            .getFunction("TfLiteVersion")
                            .invokeString(new Object[0], false);
            return new EngineLibrary(file, version);
        } catch (LinkageError e) {
            throw new UnplannableException("TensorFlow Lite tells no version: " + e.getMessage());
        }
    }

    /** Loads the library of a file, which may be loaded already. */
    public static void load(Path file) {
        System.load(file.toString());
    }

    /**
     * @param mappings in the format of {@code /proc/PID/maps}
     */
    static Optional<Path> find(Path mappings) {
        try {
            // Its size is not known in advance; names need not be in the encoding that is usual.
            String text = new String(Files.readAllBytes(mappings), StandardCharsets.UTF_8);
            return text.lines()
                    .map(line -> line.split(" +", PATH_COLUMN))
                    .filter(columns -> columns.length == PATH_COLUMN)
                    .map(columns -> columns[PATH_COLUMN - 1])
                    .filter(path -> path.endsWith("/" + NAME))
                    .findFirst()
                    .map(Path::of);
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
