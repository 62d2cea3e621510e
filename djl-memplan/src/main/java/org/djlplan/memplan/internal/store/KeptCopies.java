package org.djlplan.memplan.internal.store;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
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
 * process, and the next process that makes a file of the model removes the remains.
 */
public final class KeptCopies {

    private static final Logger logger = LoggerFactory.getLogger(KeptCopies.class);

    private static final String LOCK = ".lock";
    private static final KeptCopyCodec CODEC = new KeptCopyCodec();

    /**
     * After this time a waiting process makes the file, too, because the first process may hang.
     */
    private static final Duration LONGEST_WAIT = Duration.ofMinutes(5);

    private static final Duration LOOK_EVERY = Duration.ofMillis(20);

    private final Path model;
    private final KeptFolders folders;
    private final FolderStore<KeptCopy> known;
    private final Fingerprints fingerprints;
    private final String ending;

    /** An unchanged stored file with its description. */
    public record Found(Path file, KeptCopy copy) {}

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
        known = FolderStore.at(CODEC, absolute.getParent(), cacheFolder);
        this.fingerprints = fingerprints;
        this.ending = ending;
    }

    private String nameOf(StoreKey key) {
        String known = this.known.nameOf(key);
        return known.substring(0, known.length() - CODEC.ending().length()) + ending;
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
        Optional<StoreLock> lock = tryLock(name);
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
            lock = tryLock(name);
        }
        return lock;
    }

    private Optional<StoreLock> tryLock(String name) {
        String lock = name + LOCK;
        return StoreLock.tryAcquire(
                folders.beside().resolve(lock),
                List.of(
                        () -> {
                            folders.createBeside();
                            return folders.beside().resolve(lock);
                        },
                        () -> {
                            folders.createCache();
                            return folders.cache().resolve(lock);
                        }));
    }

    /** Removes partial files of the model that killed processes left. */
    private void removeLeftOvers(StoreKey key) {
        for (Path folder : folders.newestFirst()) {
            try {
                for (Path file : KeptFolders.files(folder, ReadableNames::isTemporary)) {
                    String name = ReadableNames.ofTemporary(file.getFileName().toString());
                    if (ReadableNames.mayBeOf(key.model(), name, ending)
                            && (name.equals(nameOf(key)) || isNotBeingMade(name))) {
                        Files.deleteIfExists(file);
                    }
                }
                KeptFolders.evict(
                        folder, name -> ReadableNames.mayBeOf(key.model(), name, ending + LOCK));
            } catch (IOException e) {
                logger.debug("{} is not tidied", folder, e);
            }
        }
    }

    private boolean isNotBeingMade(String name) {
        try (StoreLock lock = tryLock(name).orElse(null)) {
            return lock != null && lock.acrossProcesses();
        }
    }

    /**
     * @param loud whether to log a file that is not intact
     */
    private Optional<Found> find(StoreKey key, boolean loud) {
        Optional<KeptCopy> copy = known.load(key);
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

    private Optional<Found> intact(Path file, KeptCopy copy) {
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
                folders.write(
                                name,
                                place ->
                                        FileReplacement.replace(
                                                place,
                                                temporary ->
                                                        derivedBegin[0] =
                                                                maker.make(temporary).orElse(0)))
                        .file();
        KeptCopy copy =
                new KeptCopy(
                        Files.size(file), fingerprints.ofMade(file).content(), derivedBegin[0]);
        known.save(key, copy);
        try {
            KeptFolders.evict(
                    file.getParent(),
                    other -> ReadableNames.mayBeOf(key.model(), other, ending),
                    this::lastUse,
                    quotaBytes,
                    file);
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
        return file.resolveSibling(stem + CODEC.ending());
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
            return Files.getLastModifiedTime(useOf(file), LinkOption.NOFOLLOW_LINKS);
        } catch (IOException e) {
            return FileTime.fromMillis(0);
        }
    }
}
