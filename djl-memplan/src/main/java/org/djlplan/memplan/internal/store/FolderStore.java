package org.djlplan.memplan.internal.store;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.djlplan.thirdparty.guava.base.Ascii;
import org.djlplan.thirdparty.guava.base.CharMatcher;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores values of one kind across runs of the JVM, every value in a separate file, in the folder
 * {@code .djlplan} beside the model or, if that folder is not writable, in a cache folder. DJL
 * ignores files whose names begin with a dot when it searches for a model.
 *
 * <p>Faults of a file, a folder or a disk never cause an exception: one warning reports them, and
 * the value is made again.
 *
 * <p>At most {@value KeptFolders#MOST_FILES} values are stored for each model. A file's
 * modification time is its last use.
 *
 * <p>Safe for use by several threads and JVMs.
 *
 * @param <T> the kind of value
 */
public final class FolderStore<T extends Record> {

    private static final Logger logger = LoggerFactory.getLogger(FolderStore.class);

    private static final String LOCK = ".lock";
    private static final int LONGEST_REASON = 300;

    private static final Duration USE_NOTED_AFTER = Duration.ofHours(1);

    private final Format<T> format;
    private final KeptFolders folders;
    private final int mostFiles;
    private final boolean quiet;
    private final Set<Path> reported = ConcurrentHashMap.newKeySet();

    /**
     * @param mostFiles limit of the files of a model
     * @param quiet whether users need not know where values are stored, or that they are not
     */
    FolderStore(Format<T> format, KeptFolders folders, int mostFiles, boolean quiet) {
        this.format = format;
        this.folders = folders;
        this.mostFiles = mostFiles;
        this.quiet = quiet;
    }

    /**
     * Returns the store for the models in a folder. Creates nothing before the first value is
     * saved.
     *
     * @param format of the values
     * @param modelFolder the folder with the model's files
     * @param cacheFolder for values that cannot be stored in {@code modelFolder}; shared by all
     *     models
     */
    public static <T extends Record> FolderStore<T> at(
            Format<T> format, Path modelFolder, Path cacheFolder) {
        return new FolderStore<>(
                format, KeptFolders.at(modelFolder, cacheFolder), KeptFolders.MOST_FILES, false);
    }

    /** Returns the intact value that was saved under an equal key, if there is one. */
    public Optional<T> load(StoreKey key) {
        for (Path folder : readable()) {
            Path file = folder.resolve(format.nameOf(key));
            Optional<T> value = read(file, in -> format.read(key, in));
            if (value.isPresent()) {
                noteUse(file);
                return value;
            }
        }
        return Optional.empty();
    }

    /** Returns the name of the file of a key. */
    String nameOf(StoreKey key) {
        return format.nameOf(key);
    }

    private List<Path> readable() {
        for (Path folder : folders.both()) {
            if (Files.isSymbolicLink(folder) && reported.add(folder)) {
                logger.warn("{} is a link, which is not followed", folder);
            }
        }
        return folders.newestFirst();
    }

    /** Sets the modification time to the last use, to the hour, so that it changes rarely. */
    private static void noteUse(Path file) {
        try {
            Instant now = Instant.now();
            if (Files.getLastModifiedTime(file).toInstant().isBefore(now.minus(USE_NOTED_AFTER))) {
                Files.setLastModifiedTime(file, FileTime.from(now));
            }
        } catch (IOException e) {
            logger.debug("{} stays as old as it is", file, e);
        }
    }

    /** Returns all intact values under keys of a model, in the order of their files' names. */
    public List<Kept<T>> all(String model) {
        TreeMap<String, Kept<T>> found = new TreeMap<>();
        for (Path folder : readable()) {
            for (Path file : files(folder, model)) {
                String name = file.getFileName().toString();
                read(file, in -> named(name, format.read(in)))
                        .filter(kept -> kept.key().model().equals(model))
                        .ifPresent(kept -> found.putIfAbsent(name, kept));
            }
        }
        return ImmutableList.copyOf(found.values());
    }

    private Kept<T> named(String name, Kept<T> kept) throws IOException {
        if (!format.nameOf(kept.key()).equals(name)) {
            throw new IOException("the " + format.kind() + " of another key");
        }
        return kept;
    }

    /** Returns whether a value of this kind is stored for a model, under any key. */
    public boolean hasAny(String model) {
        return readable().stream().anyMatch(folder -> !files(folder, model).isEmpty());
    }

    private List<Path> files(Path folder, String model) {
        try {
            return KeptFolders.files(folder, ReadableNames.namesOf(model, format.ending()));
        } catch (IOException e) {
            if (reported.add(folder)) {
                logger.warn("{} cannot be read ({})", folder, reason(e));
            }
            return List.of();
        }
    }

    /**
     * Tries to become the only thread of all JVMs that makes the value of a key. The holder of the
     * lock should first check whether the value exists by now.
     *
     * @return empty if another thread holds the lock
     */
    public Optional<StoreLock> tryLock(StoreKey key) {
        return StoreLock.tryAcquire(folders, format.nameOf(key) + LOCK);
    }

    /** Reads the content of a file. */
    private interface Reader<R> {
        R read(InputStream in) throws IOException;
    }

    /** Catches everything that the content of a file can make its reader throw. */
    private <R> Optional<R> read(Path file, Reader<R> reader) {
        try {
            if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
                return Optional.empty();
            }
            // Opening a pipe would wait for a writer, and a link may point anywhere.
            if (!KeptFolders.isFile(file)) {
                throw new IOException("not a file");
            }
            long bytes = Files.size(file);
            if (bytes > Format.MOST_BYTES) {
                throw new IOException(bytes + " bytes are too many for a " + format.kind());
            }
            try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
                return Optional.of(reader.read(in));
            }
        } catch (IOException | RuntimeException e) {
            if (reported.add(file)) {
                logger.warn("{} cannot be used ({}); it will be made again", file, reason(e));
            }
            return Optional.empty();
        }
    }

    /**
     * Saves a value, replacing one that was saved under an equal key. If the model has too many
     * values, the least recently used ones are removed.
     */
    public void save(StoreKey key, T value) {
        try {
            byte[] content = format.toBytes(key, value);
            KeptFolders.Written written =
                    folders.write(format.nameOf(key), FileReplacement.bytes(content));
            reported.remove(written.file());
            tidy(written.file().getParent(), key.model());
            if (!quiet && written.notBeside().isPresent() && reported.add(folders.beside())) {
                logger.info(
                        "A {} is stored in {}, not beside the model ({})",
                        format.kind(),
                        folders.cache(),
                        reason(written.notBeside().get()));
            }
        } catch (IOException | RuntimeException e) {
            if (quiet) {
                logger.debug("The {} of {} cannot be stored", format.kind(), key.model(), e);
            } else if (reported.add(folders.cache())) {
                logger.warn(
                        "The {} of {} cannot be stored ({})",
                        format.kind(),
                        key.model(),
                        reason(e));
            }
        }
    }

    private void tidy(Path folder, String model) {
        try {
            for (String ending : List.of(format.ending(), format.ending() + LOCK)) {
                KeptFolders.evict(folder, ReadableNames.namesOf(model, ending), mostFiles);
            }
        } catch (IOException e) {
            // Another JVM may be removing the same files.
            logger.debug("{} is not tidied", folder, e);
        }
    }

    /**
     * Writes a value into another folder, where {@link KeptElsewhere} finds it.
     *
     * @throws IOException if the folder does not exist or cannot be written
     */
    public void copyTo(Path folder, StoreKey key, T value) throws IOException {
        FileReplacement.replace(folder.resolve(format.nameOf(key)), format.toBytes(key, value));
    }

    /** Removes a value; does nothing if there is none. */
    public void remove(StoreKey key) {
        String name = format.nameOf(key);
        for (Path folder : folders.newestFirst()) {
            try {
                if (KeptFolders.isFile(folder.resolve(name))) {
                    Files.deleteIfExists(folder.resolve(name));
                }
            } catch (IOException e) {
                logger.debug("{} stays in {}", name, folder, e);
            }
        }
    }

    /** Returns the error message in one line, because it may quote the file. */
    static String reason(Exception e) {
        String oneLine = CharMatcher.javaIsoControl().replaceFrom(e.toString(), ' ');
        return Ascii.truncate(oneLine, LONGEST_REASON, "...");
    }
}
