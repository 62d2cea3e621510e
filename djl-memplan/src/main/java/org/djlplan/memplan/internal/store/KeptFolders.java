package org.djlplan.memplan.internal.store;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The two folders for files of the models in one folder. A file in the cache is newer than a file
 * of the same name beside the model, because it is written only if the file beside the model cannot
 * be written, and removed as soon as that file is written.
 *
 * <p>A model's folder may come from anywhere and contain links to anything, so neither the folder
 * {@code .djlplan} nor a file in it is used if it is a link. Models themselves may be links.
 *
 * @param beside the folder {@code .djlplan} beside the models
 * @param cache the folder to use if {@code beside} is not writable
 */
record KeptFolders(Path beside, Path cache) {

    /** Largest number of files of one kind per model. */
    static final int MOST_FILES = 32;

    static final String BESIDE_MODEL = ".djlplan";
    private static final String IN_CACHE = "djlplan";

    /**
     * A file that was written.
     *
     * @param notBeside why it is in the cache; empty if it is beside the model
     */
    record Written(Path file, Optional<Exception> notBeside) {}

    /**
     * Returns the folders for a model folder. Creates nothing before the first file is written.
     * Files that belong to a stored file lie beside it.
     *
     * @param cacheFolder shared by all models
     */
    static KeptFolders at(Path modelFolder, Path cacheFolder) {
        Path absolute = modelFolder.toAbsolutePath().normalize();
        Path last = absolute.getNameCount() == 0 ? absolute : absolute.getFileName();
        return new KeptFolders(
                last.toString().equals(BESIDE_MODEL) ? absolute : absolute.resolve(BESIDE_MODEL),
                cacheFolder
                        .toAbsolutePath()
                        .resolve(IN_CACHE)
                        .resolve(ReadableNames.of(last.toString(), absolute.toString())));
    }

    /** Returns whether a path is a regular file and not a link. */
    static boolean isFile(Path file) {
        return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS);
    }

    /** Returns both folders, in the order in which they are tried for writing. */
    List<Path> both() {
        return List.of(beside, cache);
    }

    /** Returns the existing folders that are not links, in the order of the search. */
    List<Path> newestFirst() {
        List<Path> folders = new ArrayList<>();
        for (Path folder : List.of(cache, beside)) {
            if (Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
                folders.add(folder);
            }
        }
        return folders;
    }

    /**
     * Writes a file atomically, beside the model or, if that fails, into the cache.
     *
     * @param content called again for the cache if the first place is not writable
     * @throws IOException if neither is writable
     */
    Written write(String name, FileReplacement.Content content) throws IOException {
        try {
            create(beside);
            FileReplacement.replace(beside.resolve(name), content);
            Path older = cache.resolve(name);
            if (Files.isDirectory(cache, LinkOption.NOFOLLOW_LINKS) && isFile(older)) {
                Files.deleteIfExists(older);
            }
            return new Written(beside.resolve(name), Optional.empty());
        } catch (IOException | RuntimeException e) {
            create(cache);
            FileReplacement.replace(cache.resolve(name), content);
            return new Written(cache.resolve(name), Optional.of(e));
        }
    }

    /**
     * Creates one of the folders. Its parent is created only if it belongs to the cache, because a
     * removed model must stay removed.
     */
    void create(Path folder) throws IOException {
        Path parent = folder.getParent();
        if (parent.startsWith(cache.getParent().getParent())) {
            Files.createDirectories(parent);
        }
        try {
            Files.createDirectory(folder);
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
                throw new NotDirectoryException(
                        folder + (Files.isSymbolicLink(folder) ? ", which is a link," : ""));
            }
        }
    }

    /** Returns the files in a folder with matching names, without links. */
    static List<Path> files(Path folder, Predicate<String> names) throws IOException {
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> all =
                Files.newDirectoryStream(
                        folder, file -> names.test(file.getFileName().toString()))) {
            for (Path file : all) {
                if (isFile(file)) {
                    files.add(file);
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return files;
    }

    /** A figure of a file. */
    @FunctionalInterface
    interface Figure<T> {
        T of(Path file) throws IOException;
    }

    /**
     * Removes the least recently used files if there are too many.
     *
     * @param names which files are djl-plan's and may be removed
     */
    static void evict(Path folder, Predicate<String> names, int mostFiles) throws IOException {
        evict(folder, names, KeptFolders::modified, file -> 1L, mostFiles);
    }

    /** Returns the time of the last change of a file's content, which is its last use for most. */
    static FileTime modified(Path file) throws IOException {
        return Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS);
    }

    /**
     * Removes the least recently used files until the sum of their sizes is small enough; the most
     * recently used one always stays.
     *
     * @param names which files are djl-plan's and may be removed
     */
    static void evict(
            Path folder,
            Predicate<String> names,
            Figure<FileTime> lastUse,
            Figure<Long> size,
            long most)
            throws IOException {
        // Each time is read once, because times must not change during sorting.
        List<Used> byUse = new ArrayList<>();
        long sum = 0;
        for (Path file : files(folder, names)) {
            Used used = new Used(file, lastUse.of(file), size.of(file));
            byUse.add(used);
            sum += used.size();
        }
        byUse.sort(Comparator.comparing(Used::time).thenComparing(Used::file));
        for (int i = 0; i < byUse.size() - 1 && sum > most; i++) {
            sum -= byUse.get(i).size();
            Files.deleteIfExists(byUse.get(i).file());
        }
    }

    private record Used(Path file, FileTime time, long size) {}
}
