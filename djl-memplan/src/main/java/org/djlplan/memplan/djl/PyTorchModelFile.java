package org.djlplan.memplan.djl;

import ai.djl.Model;
import com.google.common.collect.ImmutableList;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Finds the file that DJL's PyTorch engine loaded a TorchScript model from. */
final class PyTorchModelFile {

    private static final String EXTENSION = ".pt";

    private PyTorchModelFile() {}

    /** Returns the file, found in the engine's own order; empty if the model has none. */
    static Optional<Path> of(Model model) {
        Path folder = model.getModelPath();
        if (folder == null) {
            return Optional.empty();
        }
        Path last = folder.getFileName();
        return ImmutableList.of(model.getName(), last == null ? "model" : last.toString(), "model")
                .stream()
                .flatMap(name -> ImmutableList.of(name, name + EXTENSION).stream())
                .map(folder::resolve)
                .filter(Files::isRegularFile)
                .findFirst();
    }
}
