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
import java.util.function.Predicate;
import org.djlplan.thirdparty.guava.base.Ascii;
import org.djlplan.thirdparty.guava.base.CharMatcher;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.io.ByteSource;
import org.djlplan.thirdparty.guava.io.ByteStreams;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores every value in a separate file, in the folder {@code .djlplan} beside the model or, if
 * that folder is not writable, in a cache folder. DJL ignores files whose names begin with a dot
 * when it searches for a model.
 *
 * <p>A file in the cache is newer than a file of the same name beside the model, because it is
 * written only if the file beside the model cannot be written, and removed as soon as that file is
 * written. So the cache is read first.
 *
 * <p>At most {@value KeptFolders#MOST_FILES} values of a kind are stored for each model. A file's
 * modification time is its last use.
 *
 * <p>Safe for use by several threads and JVMs.
 */
public final class FolderStore<T> implements Store<T> {

    private static final Logger logger = LoggerFactory.getLogger(FolderStore.class);

    private static final String LOCK = ".lock";
    private static final int LONGEST_REASON = 300;

    private static final Duration USE_NOTED_AFTER = Duration.ofHours(1);

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
     * Returns the store for the models in a folder. Creates nothing before the first value is
     * saved.
     *
     * @param codec for the values
     * @param modelFolder the folder with the model's files
     * @param cacheFolder for values that cannot be stored in {@code modelFolder}; shared by all
     *     models
     */
    public static <T> FolderStore<T> at(Codec<T> codec, Path modelFolder, Path cacheFolder) {
        return new FolderStore<>(codec, KeptFolders.at(modelFolder, cacheFolder));
    }

    @Override
    public Optional<T> load(StoreKey key) {
        String name = format.nameOf(key);
        for (Path folder : readable()) {
            Path file = folder.resolve(name);
            Optional<Kept<T>> kept = read(file, key::equals);
            if (kept.isPresent()) {
                noteUse(file);
                return kept.map(Kept::value);
            }
        }
        return Optional.empty();
    }

    /** Returns the name of the file of a key. */
    String nameOf(StoreKey key) {
        return format.nameOf(key);
    }

    private List<Path> readable() {
        for (Path link : folders.links()) {
            if (reported.add(link)) {
                logger.warn("{} is a link, which is not followed", link);
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
                read(file, key -> format.nameOf(key).equals(name))
                        .filter(kept -> kept.key().model().equals(model))
                        .ifPresent(kept -> found.putIfAbsent(name, kept));
            }
        }
        return ImmutableList.copyOf(found.values());
    }

    /** Returns whether a value of this kind is stored for a model, under any key. */
    public boolean hasAny(String model) {
        return readable().stream().anyMatch(folder -> !files(folder, model).isEmpty());
    }

    private List<Path> files(Path folder, String model) {
        try {
            return KeptFolders.files(folder, name -> format.mayBeOf(model, name));
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
        String name = format.nameOf(key) + LOCK;
        return StoreLock.tryAcquire(
                folders.beside().resolve(name),
                List.of(
                        () -> {
                            folders.createBeside();
                            return folders.beside().resolve(name);
                        },
                        () -> {
                            folders.createCache();
                            return folders.cache().resolve(name);
                        }));
    }

    /** Catches everything that the content of a file can make its reader throw. */
    private Optional<Kept<T>> read(Path file, Predicate<StoreKey> belongs) {
        try {
            if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
                return Optional.empty();
            }
            // Opening a pipe would wait for a writer, and a link may point anywhere.
            if (!KeptFolders.isFile(file)) {
                throw new IOException("not a file");
            }
            long bytes = Files.size(file);
            if (bytes > StoredFile.MOST_BYTES) {
                throw new IOException(bytes + " bytes are too many for a " + codec.kind());
            }
            try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
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
                            "{} has version {} of the format, not {}; it will be made again",
                            file,
                            other.version(),
                            codec.version());
                }
            }
        } catch (IOException | RuntimeException e) {
            if (reported.add(file)) {
                logger.warn("{} cannot be used ({}); it will be made again", file, reason(e));
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
            if (written.isNew()) {
                tidy(written.file().getParent(), key.model());
            }
            if (written.notBeside().isPresent() && reported.add(folders.beside())) {
                logger.info(
                        "A {} is stored in {}, not beside the model ({})",
                        codec.kind(),
                        folders.cache(),
                        reason(written.notBeside().get()));
            }
        } catch (IOException | RuntimeException e) {
            if (reported.add(folders.cache())) {
                logger.warn(
                        "The {} of {} cannot be stored ({})", codec.kind(), key.model(), reason(e));
            }
        }
    }

    /** Removes the least recently used files of a model. */
    private void tidy(Path folder, String model) {
        try {
            KeptFolders.evict(folder, name -> format.mayBeOf(model, name));
            KeptFolders.evict(
                    folder, name -> ReadableNames.mayBeOf(model, name, codec.ending() + LOCK));
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
        ByteSource content = ByteSource.wrap(format.toBytes(key, value));
        boolean unused = FileReplacement.replace(folder.resolve(format.nameOf(key)), content);
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
