package org.djlplan.memplan.store;

import com.google.common.base.Ascii;
import com.google.common.base.CharMatcher;
import com.google.common.io.ByteSource;
import com.google.common.io.ByteStreams;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps every plan in a file of its own, in the folder {@code .djlplan} beside the model, or in a
 * cache folder when that cannot be written. DJL takes no notice of files whose names begin with a
 * dot when it looks for a model.
 *
 * <p>A file in the cache is newer than one of the same name beside the model: it is written only
 * when the other cannot be, and removed as soon as it can. So it is read first.
 *
 * <p>Safe for use by several threads and JVMs at once.
 */
public final class FolderPlanStore implements PlanStore {

    private static final Logger logger = LoggerFactory.getLogger(FolderPlanStore.class);

    private static final String BESIDE_MODEL = ".djlplan";
    private static final String IN_CACHE = "djlplan";
    private static final int LONGEST_REASON = 300;

    private final Path beside;
    private final Path cache;
    private final Set<Path> reported = ConcurrentHashMap.newKeySet();

    private FolderPlanStore(Path beside, Path cache) {
        this.beside = beside;
        this.cache = cache;
    }

    /**
     * Returns the plans of the models in a folder. Nothing is created before the first plan is
     * saved.
     *
     * @param modelFolder the folder in which the model's files are
     * @param cacheFolder where to keep plans when they cannot be kept in {@code modelFolder}; one
     *     for all models
     */
    public static PlanStore at(Path modelFolder, Path cacheFolder) {
        Path absolute = modelFolder.toAbsolutePath().normalize();
        Path last = absolute.getNameCount() == 0 ? absolute : absolute.getFileName();
        return new FolderPlanStore(
                absolute.resolve(BESIDE_MODEL),
                cacheFolder
                        .toAbsolutePath()
                        .resolve(IN_CACHE)
                        .resolve(ReadableNames.of(last.toString(), absolute.toString())));
    }

    @Override
    public Optional<StoredPlan> load(PlanKey key) {
        String name = PlanFile.nameOf(key);
        for (Path folder : List.of(cache, beside)) {
            Optional<StoredPlan> plan = read(folder.resolve(name), key);
            if (plan.isPresent()) {
                return plan;
            }
        }
        return Optional.empty();
    }

    /** Catches everything that what is in a file can make its reader throw. */
    private Optional<StoredPlan> read(Path file, PlanKey key) {
        try {
            if (!Files.exists(file)) {
                return Optional.empty();
            }
            // Opening a pipe would wait for a writer.
            if (!Files.isRegularFile(file)) {
                throw new IOException("not a file");
            }
            long bytes = Files.size(file);
            if (bytes > PlanFile.MOST_BYTES) {
                throw new IOException(bytes + " bytes are too many for a plan");
            }
            try (InputStream in = Files.newInputStream(file)) {
                PlanFileReader.Result result =
                        PlanFileReader.read(ByteStreams.limit(in, PlanFile.MOST_BYTES), key);
                if (result instanceof PlanFileReader.Usable usable) {
                    return Optional.of(usable.plan());
                }
                if (result instanceof PlanFileReader.OtherVersion other && reported.add(file)) {
                    logger.info(
                            "{} has version {} of the format, not {}; planning anew",
                            file,
                            other.version(),
                            PlanFile.VERSION);
                }
            }
        } catch (IOException | RuntimeException e) {
            if (reported.add(file)) {
                logger.warn("{} is of no use ({}); planning anew", file, reason(e));
            }
        }
        return Optional.empty();
    }

    @Override
    public void save(PlanKey key, StoredPlan plan) {
        String name = PlanFile.nameOf(key);
        try {
            ByteSource content = ByteSource.wrap(PlanFile.toBytes(key, plan));
            try {
                saveBeside(name, content);
            } catch (IOException | RuntimeException e) {
                Files.createDirectories(cache);
                replace(cache.resolve(name), content);
                if (reported.add(beside)) {
                    logger.info(
                            "Plans are kept in {}, not beside the model ({})", cache, reason(e));
                }
            }
        } catch (IOException | RuntimeException e) {
            if (reported.add(cache)) {
                logger.warn("The plan of {} cannot be kept ({})", key.model(), reason(e));
            }
        }
    }

    private void saveBeside(String name, ByteSource content) throws IOException {
        createIn(beside);
        replace(beside.resolve(name), content);
        Path older = cache.resolve(name);
        if (Files.exists(older)) {
            Files.deleteIfExists(older);
        }
    }

    private void replace(Path file, ByteSource content) throws IOException {
        FileReplacement.replace(file, content);
        reported.remove(file);
    }

    /** Creates a folder, but none that it lies in: a model that was removed stays removed. */
    private static void createIn(Path folder) throws IOException {
        try {
            Files.createDirectory(folder);
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(folder)) {
                throw e;
            }
        }
    }

    /** Returns what went wrong, on one line: a message may quote the file. */
    private static String reason(Exception e) {
        String oneLine = CharMatcher.javaIsoControl().replaceFrom(e.toString(), ' ');
        return Ascii.truncate(oneLine, LONGEST_REASON, "...");
    }
}
