package org.djlplan.memplan.djl;

import ai.djl.Model;
import com.google.common.collect.ImmutableList;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Finds the file that the stock TFLite engine loaded; the engine itself does not tell. */
final class TfLiteModelFile {

    private static final String EXTENSION = ".tflite";
    private static final Path MAPPINGS = Path.of("/proc/self/maps");

    private TfLiteModelFile() {}

    /**
     * Returns the file of a model that the engine has open, or empty if it was not loaded from one
     * or under a name that the model does not know any more.
     */
    static Optional<Path> of(Model model) {
        Path folder = model.getModelPath();
        if (folder == null) {
            // Its block was set by hand.
            return Optional.empty();
        }
        if (Files.isRegularFile(folder)) {
            return Optional.of(folder).filter(TfLiteModelFile::isMapped);
        }
        return candidates(model.getName(), folder).stream()
                .map(folder::resolve)
                .filter(Files::isRegularFile)
                .findFirst()
                .filter(TfLiteModelFile::isMapped);
    }

    /**
     * The order in which {@code TfLiteModel.findModelFile} looks. Given a file instead of a folder,
     * it names the model by the file's name less five characters: {@code MobileFaceNet.t}.
     */
    private static List<String> candidates(String name, Path folder) {
        String folderName = folder.toAbsolutePath().getFileName().toString();
        return ImmutableList.of(
                name,
                name + EXTENSION,
                name.endsWith(".t") ? name + "flite" : name,
                folderName,
                folderName + EXTENSION);
    }

    /**
     * Whether the file is mapped by this process. The engine maps the file it loads, so another
     * file that only has the right name – beside one that was loaded with a prefix – is not.
     */
    private static boolean isMapped(Path file) {
        try (Stream<String> mappings = Files.lines(MAPPINGS, StandardCharsets.ISO_8859_1)) {
            byte[] name = file.toRealPath().toString().getBytes(StandardCharsets.UTF_8);
            String ending = " " + new String(name, StandardCharsets.ISO_8859_1);
            return mappings.anyMatch(mapping -> mapping.endsWith(ending));
        } catch (IOException | UncheckedIOException e) {
            return false;
        }
    }
}
