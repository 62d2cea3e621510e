package org.djlplan.memplan.store;

import com.google.common.base.Ascii;
import com.google.common.base.CharMatcher;
import com.google.common.collect.ImmutableList;
import com.google.common.io.ByteSource;
import com.google.common.io.ByteStreams;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps every value in a file of its own, in the folder {@code .djlplan} beside the model, or in a
 * cache folder when that cannot be written. DJL takes no notice of files whose names begin with a
 * dot when it looks for a model.
 *
 * <p>A file in the cache is newer than one of the same name beside the model: it is written only
 * when the other cannot be, and removed as soon as it can. So it is read first.
 *
 * <p>Safe for use by several threads and JVMs at once.
 */
public final class FolderStore<T> implements Store<T> {

    private static final Logger logger = LoggerFactory.getLogger(FolderStore.class);

    private static final String LOCK = ".lock";
    private static final int LONGEST_REASON = 300;

    private final Codec<T> codec;
    private final StoredFile<T> format;
    private final KeptFolders folders;
    private final Set<Path> reported = ConcurrentHashMap.newKeySet();

    private FolderStore(Codec<T> codec, KeptFolders folders) {
        this.codec = codec;
        this.format = new StoredFile<>(codec);
        this.folders = folders;
    }

    /**
     * Returns what is kept of the models in a folder. Nothing is created before the first value is
     * saved.
     *
     * @param codec how values are written
     * @param modelFolder the folder in which the model's files are
     * @param cacheFolder where to keep values when they cannot be kept in {@code modelFolder}; one
     *     for all models
     */
    public static <T> FolderStore<T> at(Codec<T> codec, Path modelFolder, Path cacheFolder) {
        return new FolderStore<>(codec, KeptFolders.at(modelFolder, cacheFolder));
    }

    @Override
    public Optional<T> load(StoreKey key) {
        String name = format.nameOf(key);
        for (Path folder : folders.newestFirst()) {
            Optional<Kept<T>> kept = read(folder.resolve(name), key::equals);
            if (kept.isPresent()) {
                return kept.map(Kept::value);
            }
        }
        return Optional.empty();
    }

    /** Returns all intact values under keys of a model, in the order of their files' names. */
    public List<Kept<T>> all(String model) {
        TreeMap<String, Kept<T>> found = new TreeMap<>();
        for (Path folder : folders.newestFirst()) {
            for (Path file : files(folder, model)) {
                String name = file.getFileName().toString();
                read(file, key -> format.nameOf(key).equals(name))
                        .filter(kept -> kept.key().model().equals(model))
                        .ifPresent(kept -> found.putIfAbsent(name, kept));
            }
        }
        return ImmutableList.copyOf(found.values());
    }

    private List<Path> files(Path folder, String model) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (DirectoryStream<Path> files =
                Files.newDirectoryStream(
                        folder, file -> format.mayBeOf(model, file.getFileName().toString()))) {
            return ImmutableList.copyOf(files);
        } catch (IOException | DirectoryIteratorException e) {
            if (reported.add(folder)) {
                logger.warn("{} cannot be read ({})", folder, reason(e));
            }
            return List.of();
        }
    }

    /**
     * Tries to be the only one, of all JVMs and threads, that makes the value of a key. Whoever
     * gets the lock should look again whether the value is there by now.
     *
     * @return empty if another one is
     */
    public Optional<StoreLock> tryLock(StoreKey key) {
        String name = format.nameOf(key) + LOCK;
        return StoreLock.tryAcquire(
                folders.beside().resolve(name),
                List.of(
                        () -> {
                            folders.createBeside();
                            return folders.beside().resolve(name);
                        },
                        () -> Files.createDirectories(folders.cache()).resolve(name)));
    }

    /** Catches everything that what is in a file can make its reader throw. */
    private Optional<Kept<T>> read(Path file, Predicate<StoreKey> belongs) {
        try {
            if (!Files.exists(file)) {
                return Optional.empty();
            }
            // Opening a pipe would wait for a writer.
            if (!Files.isRegularFile(file)) {
                throw new IOException("not a file");
            }
            long bytes = Files.size(file);
            if (bytes > StoredFile.MOST_BYTES) {
                throw new IOException(bytes + " bytes are too many for a " + codec.kind());
            }
            try (InputStream in = Files.newInputStream(file)) {
                StoredFile.Result<T> result =
                        format.read(ByteStreams.limit(in, StoredFile.MOST_BYTES));
                if (result instanceof StoredFile.Usable<T> usable) {
                    if (!belongs.test(usable.kept().key())) {
                        throw new IOException("the " + codec.kind() + " of another key");
                    }
                    return Optional.of(usable.kept());
                }
                if (result instanceof StoredFile.OtherVersion<T> other && reported.add(file)) {
                    logger.info(
                            "{} has version {} of the format, not {}; to be made anew",
                            file,
                            other.version(),
                            codec.version());
                }
            }
        } catch (IOException | RuntimeException e) {
            if (reported.add(file)) {
                logger.warn("{} is of no use ({}); to be made anew", file, reason(e));
            }
        }
        return Optional.empty();
    }

    @Override
    public void save(StoreKey key, T value) {
        String name = format.nameOf(key);
        try {
            ByteSource content = ByteSource.wrap(format.toBytes(key, value));
            KeptFolders.Written written = folders.write(name, content);
            reported.remove(written.file());
            if (written.notBeside().isPresent() && reported.add(folders.beside())) {
                logger.info(
                        "A {} is kept in {}, not beside the model ({})",
                        codec.kind(),
                        folders.cache(),
                        reason(written.notBeside().get()));
            }
        } catch (IOException | RuntimeException e) {
            if (reported.add(folders.cache())) {
                logger.warn(
                        "The {} of {} cannot be kept ({})", codec.kind(), key.model(), reason(e));
            }
        }
    }

    /** Removes a value; does nothing if there is none. */
    public void remove(StoreKey key) {
        String name = format.nameOf(key);
        for (Path folder : folders.newestFirst()) {
            try {
                Files.deleteIfExists(folder.resolve(name));
            } catch (IOException e) {
                logger.debug("{} stays in {}", name, folder, e);
            }
        }
    }

    /** Returns what went wrong, on one line: a message may quote the file. */
    private static String reason(Exception e) {
        String oneLine = CharMatcher.javaIsoControl().replaceFrom(e.toString(), ' ');
        return Ascii.truncate(oneLine, LONGEST_REASON, "...");
    }
}
