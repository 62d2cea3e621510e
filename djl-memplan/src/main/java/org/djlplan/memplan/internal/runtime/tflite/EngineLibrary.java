package org.djlplan.memplan.internal.runtime.tflite;

import com.sun.jna.Library;
import com.sun.jna.NativeLibrary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.djlplan.memplan.internal.machine.SystemFile;

/**
 * The engine's native library that is loaded in this process.
 *
 * @param file the file that it was loaded from
 * @param version the version of TensorFlow Lite that the library reports
 */
public record EngineLibrary(Path file, String version) {

    /**
     * File names of the library in DJL and in bytedeco's presets. The first loaded one is used, as
     * in tflite_engine.c.
     */
    private static final List<String> NAMES =
            List.of("libtensorflowlite_jni.so", "libjnitensorflowlite.so");

    /** Prefix of the supported releases whose XNNPACK has no transient buffers. */
    private static final String WITHOUT_TRANSIENT_BUFFERS = "2.6.";

    /** A flag of dlopen: symbols are not visible to libraries that are loaded later. */
    private static final int RTLD_LAZY = 1;

    /** Libraries that this class loaded, held because JNA unloads unreferenced ones. */
    private static final Map<Path, NativeLibrary> LOADED = new ConcurrentHashMap<>();

    private static final Path MAPPINGS = Path.of("/proc/self/maps");
    private static final int PATH_COLUMN = 6;

    /**
     * Returns it.
     *
     * @throws UnplannableException if it is not loaded, or its file was deleted since
     */
    public static EngineLibrary loaded() throws UnplannableException {
        if (!Files.isReadable(MAPPINGS)) {
            throw new UnplannableException(
                    MAPPINGS
                            + " cannot be read, so the path of the loaded TensorFlow Lite library"
                            + " is unknown");
        }
        Path file =
                find(MAPPINGS)
                        .orElseThrow(
                                () ->
                                        new UnplannableException(
                                                "TensorFlow Lite is not loaded from a file that is"
                                                        + " still there"));
        try {
            String version =
                    open(file).getFunction("TfLiteVersion").invokeString(new Object[0], false);
            return new EngineLibrary(file, version);
        } catch (LinkageError e) {
            throw new UnplannableException(
                    "TensorFlow Lite does not report its version: " + e.getMessage());
        }
    }

    /**
     * Makes sure that our native code supports the loaded library.
     *
     * @throws UnplannableException if it does not; the message names the supported ones
     */
    public static void requireKnown() throws UnplannableException {
        TfLiteNative.use().close();
    }

    /** Returns whether its XNNPACK can build indirection buffers for each prediction. */
    public boolean offersTransientBuffers() {
        return !version.startsWith(WITHOUT_TRANSIENT_BUFFERS);
    }

    /** Returns whether a file has one of the names by which a loaded library is found. */
    public static boolean isNamedAsUsual(Path file) {
        return NAMES.contains(file.getFileName().toString());
    }

    /** Loads the library of a file, which may be loaded already. */
    public static void load(Path file) {
        LOADED.computeIfAbsent(file, EngineLibrary::open);
    }

    /** Does not run the library's {@code JNI_OnLoad}, which needs classes that may be absent. */
    private static NativeLibrary open(Path file) {
        return NativeLibrary.getInstance(
                file.toString(), Map.of(Library.OPTION_OPEN_FLAGS, RTLD_LAZY));
    }

    /**
     * @param mappings in the format of {@code /proc/PID/maps}
     */
    static Optional<Path> find(Path mappings) {
        try {
            List<String> lines = SystemFile.lines(mappings);
            for (String name : NAMES) {
                for (String line : lines) {
                    // Most of the thousand lines do not match, so they are not split into columns.
                    if (line.endsWith("/" + name)) {
                        String[] columns = line.split(" +", PATH_COLUMN);
                        if (columns.length == PATH_COLUMN) {
                            return Optional.of(Path.of(columns[PATH_COLUMN - 1]));
                        }
                    }
                }
            }
            return Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
