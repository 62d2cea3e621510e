package org.djlplan.memplan.internal.store;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Large files that are made from a model and stored in the same folders as values of {@link
 * FolderStore}. A stored file is used only while its whole content is unchanged, as verified by
 * {@link Fingerprints}. A model's files together stay below a quota, unless a single one exceeds
 * it: the least recently used files are removed.
 *
 * <p>One process makes a file while others wait for it. The system frees the lock of a killed
 * process, and the next process that makes the file removes the remains.
 */
public final class KeptCopies {

    private static final Logger logger = LoggerFactory.getLogger(KeptCopies.class);

    private static final String LOCK = ".lock";
    private static final Format<Copy> FORMAT = new Format<>("copy", 3, Copy.class);

    /**
     * After this time a waiting process makes the file, too, because the first process may hang.
     */
    private static final Duration LONGEST_WAIT = Duration.ofMinutes(5);

    private static final FileTime NEWEST = FileTime.from(Instant.MAX);

    private static final Duration LOOK_EVERY = Duration.ofMillis(20);

    private final Path model;
    private final KeptFolders folders;
    private final FolderStore<Copy> known;
    private final Fingerprints fingerprints;
    private final String ending;

    /** An unchanged stored file with its description. */
    public record Found(Path file, Copy copy) {}

    /**
     * The description of a file.
     *
     * @param bytes its size
     * @param content of its {@link Fingerprint}
     * @param derivedBeginBytes offset of the data that kernels derive from weights; 0 if there is
     *     none
     */
    public record Copy(long bytes, String content, long derivedBeginBytes) {

        public Copy {
            checkArgument(bytes > 0, "a file of %s bytes", bytes);
            checkArgument(
                    derivedBeginBytes >= 0 && derivedBeginBytes < bytes,
                    "a part at %s of %s",
                    derivedBeginBytes,
                    bytes);
        }
    }

    /** Makes a file. */
    @FunctionalInterface
    public interface Maker {

        /**
         * Writes all of it.
         *
         * @param file does not exist; is removed if this fails
         * @return offset of the data that kernels derive from weights; empty if there is none
         */
        OptionalLong make(Path file) throws IOException;
    }

    /**
     * @param model the model's file
     * @param cacheFolder for files that cannot be stored beside the model
     * @param fingerprints of the files
     * @param ending of the names of the files
     */
    public KeptCopies(Path model, Path cacheFolder, Fingerprints fingerprints, String ending) {
        Path absolute = model.toAbsolutePath();
        this.model = absolute;
        folders = KeptFolders.at(absolute.getParent(), cacheFolder);
        known = FolderStore.at(FORMAT, absolute.getParent(), cacheFolder);
        this.fingerprints = fingerprints;
        this.ending = ending;
    }

    private String nameOf(StoreKey key) {
        String known = this.known.nameOf(key);
        return known.substring(0, known.length() - FORMAT.ending().length()) + ending;
    }

    /**
     * Returns the file that was made under an equal key, or makes it. If another process makes it,
     * this one waits, for minutes at most.
     *
     * @param usable whether an intact file may be used
     * @param quotaBytes quota of the model's files
     * @param maker may be called again, for another place
     * @throws IOException if the file cannot be made anywhere
     */
    public Found findOrMake(StoreKey key, Predicate<Found> usable, long quotaBytes, Maker maker)
            throws IOException {
        Optional<Found> before = find(key, false);
        if (before.filter(usable).isPresent()) {
            return before.get();
        }
        Optional<StoreLock> lock = await(nameOf(key));
        try {
            // Another process may have made it meanwhile.
            Optional<Found> made =
                    find(key, true)
                            .filter(found -> !before.equals(Optional.of(found)))
                            .filter(usable);
            if (made.isPresent()) {
                return made.get();
            }
            if (lock.filter(StoreLock::acrossProcesses).isPresent()) {
                removeLeftOvers(key);
            }
            return make(key, quotaBytes, maker);
        } finally {
            lock.ifPresent(StoreLock::close);
        }
    }

    /** Returns the lock of a file; empty if another process still holds it after some time. */
    private Optional<StoreLock> await(String name) throws IOException {
        Optional<StoreLock> lock = StoreLock.tryAcquire(folders, name + LOCK);
        if (lock.isEmpty()) {
            logger.info("{} is being made: waiting for it", name);
        }
        long begin = System.nanoTime();
        while (lock.isEmpty() && System.nanoTime() - begin < LONGEST_WAIT.toNanos()) {
            try {
                Thread.sleep(LOOK_EVERY.toMillis());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("interrupted while " + name + " is being made");
            }
            lock = StoreLock.tryAcquire(folders, name + LOCK);
        }
        return lock;
    }

    /** Removes partial files that killed processes left, and old locks of the model. */
    private void removeLeftOvers(StoreKey key) {
        String name = nameOf(key);
        for (Path folder : folders.newestFirst()) {
            try {
                for (Path file :
                        KeptFolders.files(
                                folder,
                                each ->
                                        each.startsWith(name + '.')
                                                && ReadableNames.isTemporary(each))) {
                    Files.deleteIfExists(file);
                }
                KeptFolders.evict(
                        folder,
                        ReadableNames.namesOf(key.model(), ending + LOCK),
                        KeptFolders.MOST_FILES);
            } catch (IOException e) {
                logger.debug("{} is not tidied", folder, e);
            }
        }
    }

    /**
     * @param loud whether to log a file that is not intact
     */
    private Optional<Found> find(StoreKey key, boolean loud) {
        Optional<Copy> copy = known.load(key);
        if (copy.isEmpty()) {
            return Optional.empty();
        }
        for (Path folder : folders.newestFirst()) {
            Path file = folder.resolve(nameOf(key));
            if (KeptFolders.isFile(file)) {
                Optional<Found> found = intact(file, copy.get());
                if (found.isPresent()) {
                    noteUse(file);
                    return found;
                }
                if (loud) {
                    logger.warn(
                            "{} differs from the file that was made from {}; it will be made again",
                            file,
                            model);
                }
            }
        }
        return Optional.empty();
    }

    private Optional<Found> intact(Path file, Copy copy) {
        try {
            // A file of another size need not be read.
            return Files.size(file) == copy.bytes()
                            && fingerprints.of(file).content().equals(copy.content())
                    ? Optional.of(new Found(file, copy))
                    : Optional.empty();
        } catch (IOException e) {
            logger.debug("{} cannot be read", file, e);
            return Optional.empty();
        }
    }

    /** Makes a file atomically. */
    private Found make(StoreKey key, long quotaBytes, Maker maker) throws IOException {
        String name = nameOf(key);
        long[] derivedBegin = {0};
        Path file =
                folders.write(name, place -> derivedBegin[0] = maker.make(place).orElse(0)).file();
        Copy copy =
                new Copy(Files.size(file), fingerprints.ofMade(file).content(), derivedBegin[0]);
        known.save(key, copy);
        try {
            KeptFolders.evict(
                    file.getParent(),
                    ReadableNames.namesOf(key.model(), ending),
                    other -> other.equals(file) ? NEWEST : lastUse(other),
                    Files::size,
                    quotaBytes);
        } catch (IOException e) {
            logger.debug("Nothing is removed beside {}", file, e);
        }
        return new Found(file, copy);
    }

    /**
     * Returns the file whose modification time is the last use of another file. The other file is
     * not touched, because any change of its attributes would cause it to be read again.
     */
    private Path useOf(Path file) {
        String name = file.getFileName().toString();
        String stem = name.substring(0, name.length() - ending.length());
        return file.resolveSibling(stem + FORMAT.ending());
    }

    private void noteUse(Path file) {
        try {
            Path use = useOf(file);
            if (KeptFolders.isFile(use)) {
                Files.setLastModifiedTime(use, FileTime.from(Instant.now()));
            }
        } catch (IOException e) {
            logger.debug("{} looks as long unused as before", file, e);
        }
    }

    /** A file without a description is never found, so it is removed first. */
    private FileTime lastUse(Path file) {
        try {
            return KeptFolders.modified(useOf(file));
        } catch (IOException e) {
            return FileTime.fromMillis(0);
        }
    }
}
