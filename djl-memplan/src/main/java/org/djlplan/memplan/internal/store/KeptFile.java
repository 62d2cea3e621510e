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

    /**
     * Creates the handle of a file that need not exist.
     *
     * @param model the model's file
     * @param cacheFolder for the file if it cannot be stored beside the model
     * @param variant distinguishes files made from the same model
     * @param ending of the file's name
     */
    public KeptFile(Path model, Path cacheFolder, String variant, String ending) {
        Path absolute = model.toAbsolutePath();
        folders = KeptFolders.at(absolute.getParent(), cacheFolder);
        this.model = absolute.getFileName().toString();
        name = ReadableNames.of(this.model, this.model + '\0' + variant) + ending;
        this.ending = ending;
    }

    /** Returns the existing files, the newest first, without links. */
    public List<Path> candidates() {
        return folders.newestFirst().stream()
                .map(folder -> folder.resolve(name))
                .filter(KeptFolders::isFile)
                .toList();
    }

    /**
     * Writes the file atomically; readers that have an older file open keep reading that file. If a
     * model has too many files with this ending, the oldest ones are removed.
     *
     * @param content called again for the cache if the model's folder is not writable
     * @return where it is
     * @throws IOException if no place is writable, or the content cannot be written
     */
    public Path replace(FileReplacement.Content content) throws IOException {
        Path written = folders.write(name, content).file();
        try {
            KeptFolders.evict(
                    written.getParent(),
                    ReadableNames.namesOf(model, ending),
                    KeptFolders.MOST_FILES);
        } catch (IOException e) {
            logger.debug("Nothing is removed beside {}", written, e);
        }
        return written;
    }
}
