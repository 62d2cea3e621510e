package org.djlplan.memplan.store;

import com.google.common.io.ByteSource;
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

/**
 * The two folders in which files of the models in one folder are kept. A file in the cache is newer
 * than one of the same name beside the model: it is written only when the other cannot be, and
 * removed as soon as it can.
 *
 * <p>A model's folder may come from anywhere, and may have links to anything in it: neither the
 * folder of kept files nor what is in it is used if it is a link. Models themselves may be links.
 *
 * @param beside the folder {@code .djlplan} beside the models
 * @param cache the folder to take when that cannot be written
 */
record KeptFolders(Path beside, Path cache) {

    /** Most files of one kind that are kept of a model. */
    static final int MOST_FILES = 32;

    static final String BESIDE_MODEL = ".djlplan";
    private static final String IN_CACHE = "djlplan";

    /**
     * A file that was written.
     *
     * @param isNew whether there was none in its place
     * @param notBeside why it is in the cache; empty if it is not
     */
    record Written(Path file, boolean isNew, Optional<Exception> notBeside) {}

    /**
     * Returns the folders of a model folder. Nothing is created before the first file is written.
     * What is kept of a kept file lies beside it.
     *
     * @param cacheFolder one for all models
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

    /** Returns whether something is a file and no link to one. */
    static boolean isFile(Path file) {
        return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS);
    }

    /**
     * Returns the folders that are there and no links, in the order in which to look for a file.
     */
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
     * Writes a file beside the model or, when that fails, into the cache.
     *
     * @throws IOException if neither can be written
     */
    Written write(String name, ByteSource content) throws IOException {
        return write(name, file -> FileReplacement.replace(file, content));
    }

    /** Puts a file in its place. */
    @FunctionalInterface
    interface Placing {

        /** Returns whether there was none. */
        boolean place(Path file) throws IOException;
    }

    /**
     * As {@link #write(String, ByteSource)}.
     *
     * @param content called again for the cache if the first place cannot be written
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
     * Creates a folder, but none that it lies in, unless that is the cache: a model that was
     * removed stays removed.
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

    /** Creates the folder in the cache, and all that it lies in. */
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

    /** Returns the files in a folder of names that are asked for; links are none. */
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
     * Removes the files that were used longest ago, if there are more than {@value #MOST_FILES}.
     *
     * @param names of the files among which to choose: of ours only
     */
    static void evict(Path folder, Predicate<String> names) throws IOException {
        evict(folder, names, MOST_FILES);
    }

    /**
     * Removes the files that were used longest ago, if there are too many.
     *
     * @param names of the files among which to choose: of ours only
     */
    static void evict(Path folder, Predicate<String> names, int mostFiles) throws IOException {
        List<Path> files = files(folder, names);
        int tooMany = files.size() - mostFiles;
        if (tooMany > 0) {
            // Read once each: sorting must not see times change.
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
     * Removes the files that were used longest ago, until all are small enough together.
     *
     * @param names of the files among which to choose: of ours only
     * @param lastUse when each was used last
     * @param kept is not removed
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

    /** A file and when it was used last. */
    private record Used(Path file, FileTime time) {}
}
