package org.djlplan.memplan.djl;

import ai.djl.Model;
import com.google.common.collect.ImmutableList;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Finds the file that the stock TFLite engine loaded; the engine itself does not tell. */
final class TfLiteModelFile {

    private static final String EXTENSION = ".tflite";

    private TfLiteModelFile() {}

    /** Returns the model's file, or empty if it was not loaded from one. */
    static Optional<Path> of(Model model) {
        Path folder = model.getModelPath();
        if (Files.isRegularFile(folder)) {
            return Optional.of(folder);
        }
        return candidates(model.getName(), folder).stream()
                .map(folder::resolve)
                .filter(Files::isRegularFile)
                .findFirst();
    }

    /**
     * The order in which {@code TfLiteModel.findModelFile} looks. Given a file instead of a folder,
     * it names the model by the file's name less five characters: {@code MobileFaceNet.t}.
     */
    private static List<String> candidates(String name, Path folder) {
        String folderName = folder.getFileName().toString();
        return ImmutableList.of(
                name,
                name + EXTENSION,
                name.endsWith(".t") ? name + "flite" : name,
                folderName,
                folderName + EXTENSION);
    }
}
