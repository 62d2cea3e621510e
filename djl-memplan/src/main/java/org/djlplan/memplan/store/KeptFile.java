package org.djlplan.memplan.store;

import com.google.common.io.ByteSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A file that is made from a model's and kept where {@link FolderStore} keeps values. It has no
 * checksum: whoever uses it must be able to tell, from the model's file, what it should contain.
 */
public final class KeptFile {

    private final KeptFolders folders;
    private final String name;

    private KeptFile(KeptFolders folders, String name) {
        this.folders = folders;
        this.name = name;
    }

    /**
     * Returns the place of a file, which need not exist.
     *
     * @param model the model's file
     * @param cacheFolder where to keep it when it cannot be kept beside the model
     * @param variant tells it from others that are made from the same model
     * @param ending what its name ends with
     */
    public static KeptFile of(Path model, Path cacheFolder, String variant, String ending) {
        Path absolute = model.toAbsolutePath();
        String modelName = absolute.getFileName().toString();
        return new KeptFile(
                KeptFolders.at(absolute.getParent(), cacheFolder),
                ReadableNames.of(modelName, modelName + '\0' + variant) + ending);
    }

    /** Returns the existing files, the newest first. */
    public List<Path> candidates() {
        return folders.newestFirst().stream()
                .map(folder -> folder.resolve(name))
                .filter(Files::isRegularFile)
                .toList();
    }

    /**
     * Writes the file as a whole: whoever has an older one open keeps that.
     *
     * @return where it is
     * @throws IOException if it can be written nowhere, or the content cannot be read
     */
    public Path replace(ByteSource content) throws IOException {
        return folders.write(name, content).file();
    }
}
