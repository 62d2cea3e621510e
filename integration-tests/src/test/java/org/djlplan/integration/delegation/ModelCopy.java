package org.djlplan.integration.delegation;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.djlplan.integration.support.TestModels;

/** Copies models into folders without stored results. */
public final class ModelCopy {

    private ModelCopy() {}

    /** Copies a network that the project builds. */
    static Path of(String name, Path folder) throws IOException {
        Path own = Files.createTempDirectory(folder, "model").resolve(name + ".tflite");
        return Files.copy(TestModels.built(name), own);
    }

    /** Returns whether a measured result is stored beside a model. */
    public static boolean hasProfile(Path file) throws IOException {
        Path kept = file.resolveSibling(".djlplan");
        if (!Files.isDirectory(kept)) {
            return false;
        }
        try (Stream<Path> files = Files.list(kept)) {
            return files.anyMatch(each -> each.toString().endsWith(".profile.json"));
        }
    }
}
