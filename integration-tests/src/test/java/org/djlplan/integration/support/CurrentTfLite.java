package org.djlplan.integration.support;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.djlplan.memplan.internal.runtime.tflite.EngineLibrary;

/** Finds bytedeco's TensorFlow Lite library on the class path. */
public final class CurrentTfLite {

    private static final String RESOURCE =
            "/org/bytedeco/tensorflowlite/linux-x86_64/libjnitensorflowlite.so";

    private static Path loaded;

    private CurrentTfLite() {}

    /** Loads the library into this JVM once, and returns its file. */
    public static synchronized Path load() throws IOException {
        if (loaded == null) {
            Path folder = Files.createTempDirectory("tflite");
            Path file = folder.resolve(RESOURCE.substring(RESOURCE.lastIndexOf('/') + 1));
            try (InputStream library = CurrentTfLite.class.getResourceAsStream(RESOURCE)) {
                if (library == null) {
                    throw new IOException("no " + RESOURCE + " on the class path");
                }
                Files.copy(library, file);
            }
            EngineLibrary.load(file);
            file.toFile().deleteOnExit();
            folder.toFile().deleteOnExit();
            loaded = file;
        }
        return loaded;
    }
}
