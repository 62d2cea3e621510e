package org.djlplan.memplan.store;

import com.google.common.io.ByteSource;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file that is made from a model's and kept where {@link FolderStore} keeps values. It has no
 * checksum: whoever uses it must be able to tell, from the model's file, what it should contain.
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
                modelName,
                ReadableNames.of(modelName, modelName + '\0' + variant) + ending,
                ending);
    }

    /** Returns the existing files, the newest first; links are none. */
    public List<Path> candidates() {
        return folders.newestFirst().stream()
                .map(folder -> folder.resolve(name))
                .filter(KeptFolders::isFile)
                .toList();
    }

    /**
     * Writes the file as a whole: whoever has an older one open keeps that. If a model has too many
     * of the same ending, the oldest go.
     *
     * @return where it is
     * @throws IOException if it can be written nowhere, or the content cannot be read
     */
    public Path replace(ByteSource content) throws IOException {
        return replaced(folders.write(name, content));
    }

    /** Writes a file as a whole. */
    @FunctionalInterface
    public interface Writing {

        /** Puts a file in a place, where there may be another. */
        void writeTo(Path file) throws IOException;
    }

    /**
     * As {@link #replace(ByteSource)}.
     *
     * @param content called again for the cache if nothing can be written beside the model
     */
    public Path replace(Writing content) throws IOException {
        return replaced(
                folders.write(
                        name,
                        file -> {
                            boolean isNew = !KeptFolders.isFile(file);
                            content.writeTo(file);
                            return isNew;
                        }));
    }

    private Path replaced(KeptFolders.Written result) {
        Path written = result.file();
        try {
            KeptFolders.evict(
                    written.getParent(), other -> ReadableNames.mayBeOf(model, other, ending));
        } catch (IOException e) {
            logger.debug("Nothing is removed beside {}", written, e);
        }
        return written;
    }
}
