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
import java.util.function.Function;
import java.util.function.Predicate;
import org.djlplan.thirdparty.guava.io.ByteSource;

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
     * @param isNew whether it replaced no file
     * @param notBeside why it is in the cache; empty if it is beside the model
     */
    record Written(Path file, boolean isNew, Optional<Exception> notBeside) {}

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

    /** Returns the folders that are links. */
    List<Path> links() {
        return List.of(cache, beside).stream().filter(Files::isSymbolicLink).toList();
    }

    /**
     * Writes a file beside the model or, if that fails, into the cache.
     *
     * @throws IOException if neither is writable
     */
    Written write(String name, ByteSource content) throws IOException {
        return write(name, file -> FileReplacement.replace(file, content));
    }

    /** Moves or writes a file to its place. */
    @FunctionalInterface
    interface Placing {

        /** Returns whether the file is new. */
        boolean place(Path file) throws IOException;
    }

    /**
     * The same as {@link #write(String, ByteSource)}.
     *
     * @param content called again for the cache if the first place is not writable
     */
    Written write(String name, Placing content) throws IOException {
        try {
            createBeside();
            boolean isNew = content.place(beside.resolve(name));
            if (Files.isDirectory(cache, LinkOption.NOFOLLOW_LINKS)) {
                Path older = cache.resolve(name);
                if (isFile(older)) {
                    Files.deleteIfExists(older);
                }
            }
            return new Written(beside.resolve(name), isNew, Optional.empty());
        } catch (IOException | RuntimeException e) {
            createCache();
            boolean isNew = content.place(cache.resolve(name));
            return new Written(cache.resolve(name), isNew, Optional.of(e));
        }
    }

    /**
     * Creates the folder but not its parent, unless the parent is the cache, because a removed
     * model must stay removed.
     */
    void createBeside() throws IOException {
        if (beside.getParent().equals(cache.getParent().getParent())) {
            Files.createDirectories(beside.getParent());
        }
        try {
            Files.createDirectory(beside);
        } catch (FileAlreadyExistsException e) {
            requireFolder(beside);
        }
    }

    /** Creates the folder in the cache with its parents. */
    void createCache() throws IOException {
        Files.createDirectories(cache.getParent());
        try {
            Files.createDirectory(cache);
        } catch (FileAlreadyExistsException e) {
            requireFolder(cache);
        }
    }

    private static void requireFolder(Path folder) throws IOException {
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
            throw new NotDirectoryException(
                    folder + (Files.isSymbolicLink(folder) ? ", which is a link," : ""));
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

    /**
     * Removes the least recently used files if there are more than {@value #MOST_FILES}.
     *
     * @param names which files are djl-plan's and may be removed
     */
    static void evict(Path folder, Predicate<String> names) throws IOException {
        evict(folder, names, MOST_FILES);
    }

    /**
     * Removes the least recently used files if there are too many.
     *
     * @param names which files are djl-plan's and may be removed
     */
    static void evict(Path folder, Predicate<String> names, int mostFiles) throws IOException {
        List<Path> files = files(folder, names);
        int tooMany = files.size() - mostFiles;
        if (tooMany > 0) {
            // Each time is read once, because times must not change during sorting.
            List<Used> byUse = new ArrayList<>();
            for (Path file : files) {
                byUse.add(
                        new Used(file, Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS)));
            }
            byUse.sort(Comparator.comparing(Used::time).thenComparing(Used::file));
            for (Used used : byUse.subList(0, tooMany)) {
                Files.deleteIfExists(used.file());
            }
        }
    }

    /**
     * Removes the least recently used files until the total size is small enough.
     *
     * @param names which files are djl-plan's and may be removed
     * @param lastUse returns the last use of a file
     * @param kept is never removed
     */
    static void evict(
            Path folder,
            Predicate<String> names,
            Function<Path, FileTime> lastUse,
            long quotaBytes,
            Path kept)
            throws IOException {
        List<Used> byUse = new ArrayList<>();
        long bytes = Files.size(kept);
        for (Path file : files(folder, names)) {
            if (!file.equals(kept)) {
                byUse.add(new Used(file, lastUse.apply(file)));
                bytes += Files.size(file);
            }
        }
        byUse.sort(Comparator.comparing(Used::time).thenComparing(Used::file));
        for (Used used : byUse) {
            if (bytes <= quotaBytes) {
                return;
            }
            bytes -= Files.size(used.file());
            Files.deleteIfExists(used.file());
        }
    }

    /** A file and its last use. */
    private record Used(Path file, FileTime time) {}
}
