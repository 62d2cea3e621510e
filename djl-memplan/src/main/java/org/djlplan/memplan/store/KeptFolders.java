package org.djlplan.memplan.store;

import com.google.common.io.ByteSource;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Where files are kept of the models in one folder. A file in the cache is newer than one of the
 * same name beside the model: it is written only when the other cannot be, and removed as soon as
 * it can.
 *
 * @param beside the folder {@code .djlplan} beside the models
 * @param cache the folder to take when that cannot be written
 */
record KeptFolders(Path beside, Path cache) {

    private static final String BESIDE_MODEL = ".djlplan";
    private static final String IN_CACHE = "djlplan";

    /**
     * A file that was written.
     *
     * @param notBeside why it is in the cache; empty if it is not
     */
    record Written(Path file, Optional<Exception> notBeside) {}

    /**
     * Returns the folders of a model folder. Nothing is created before the first file is written.
     *
     * @param cacheFolder one for all models
     */
    static KeptFolders at(Path modelFolder, Path cacheFolder) {
        Path absolute = modelFolder.toAbsolutePath().normalize();
        Path last = absolute.getNameCount() == 0 ? absolute : absolute.getFileName();
        return new KeptFolders(
                absolute.resolve(BESIDE_MODEL),
                cacheFolder
                        .toAbsolutePath()
                        .resolve(IN_CACHE)
                        .resolve(ReadableNames.of(last.toString(), absolute.toString())));
    }

    /** Returns the folders in the order in which to look for a file. */
    List<Path> newestFirst() {
        return List.of(cache, beside);
    }

    /**
     * Writes a file beside the model or, when that fails, into the cache.
     *
     * @throws IOException if neither can be written
     */
    Written write(String name, ByteSource content) throws IOException {
        try {
            createBeside();
            FileReplacement.replace(beside.resolve(name), content);
            Path older = cache.resolve(name);
            if (Files.exists(older)) {
                Files.deleteIfExists(older);
            }
            return new Written(beside.resolve(name), Optional.empty());
        } catch (IOException | RuntimeException e) {
            Files.createDirectories(cache);
            FileReplacement.replace(cache.resolve(name), content);
            return new Written(cache.resolve(name), Optional.of(e));
        }
    }

    /** Creates a folder, but none that it lies in: a model that was removed stays removed. */
    void createBeside() throws IOException {
        try {
            Files.createDirectory(beside);
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(beside)) {
                throw e;
            }
        }
    }
}
