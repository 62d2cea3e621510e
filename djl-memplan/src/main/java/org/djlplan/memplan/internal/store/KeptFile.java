package org.djlplan.memplan.internal.store;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file that is made from a model's file and stored in the same folders as values of {@link
 * FolderStore}. It has no checksum: its users must verify it against the model's file.
 */
public final class KeptFile {

    private static final Logger logger = LoggerFactory.getLogger(KeptFile.class);

    private final KeptFolders folders;
    private final String model;
    private final String name;
    private final String ending;

    private KeptFile(KeptFolders folders, String model, String name, String ending) {
        this.folders = folders;
        this.model = model;
        this.name = name;
        this.ending = ending;
    }

    /**
     * Returns the handle of a file that need not exist.
     *
     * @param model the model's file
     * @param cacheFolder for the file if it cannot be stored beside the model
     * @param variant distinguishes files made from the same model
     * @param ending of the file's name
     */
    public static KeptFile of(Path model, Path cacheFolder, String variant, String ending) {
        Path absolute = model.toAbsolutePath();
        String modelName = absolute.getFileName().toString();
        return new KeptFile(
                KeptFolders.at(absolute.getParent(), cacheFolder),
                modelName,
                ReadableNames.of(modelName, modelName + '\0' + variant) + ending,
                ending);
    }

    /** Returns the existing files, the newest first, without links. */
    public List<Path> candidates() {
        return folders.newestFirst().stream()
                .map(folder -> folder.resolve(name))
                .filter(KeptFolders::isFile)
                .toList();
    }

    /** Writes a file atomically. */
    @FunctionalInterface
    public interface Writing {

        /** Writes a file to a path, where a file may already exist. */
        void writeTo(Path file) throws IOException;
    }

    /**
     * Writes the file atomically; readers that have an older file open keep reading that file. If a
     * model has too many files with this ending, the oldest ones are removed.
     *
     * @param content called again for the cache if the model's folder is not writable
     * @return where it is
     * @throws IOException if no place is writable, or the content cannot be written
     */
    public Path replace(Writing content) throws IOException {
        Path written =
                folders.write(
                                name,
                                file -> {
                                    boolean isNew = !KeptFolders.isFile(file);
                                    content.writeTo(file);
                                    return isNew;
                                })
                        .file();
        try {
            KeptFolders.evict(
                    written.getParent(), other -> ReadableNames.mayBeOf(model, other, ending));
        } catch (IOException e) {
            logger.debug("Nothing is removed beside {}", written, e);
        }
        return written;
    }
}
