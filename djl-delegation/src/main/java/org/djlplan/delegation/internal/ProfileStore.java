package org.djlplan.delegation.internal;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.memplan.internal.store.FileIdentity;
import org.djlplan.memplan.internal.store.Fingerprint;
import org.djlplan.memplan.internal.store.Fingerprints;
import org.djlplan.memplan.internal.store.FolderStore;
import org.djlplan.memplan.internal.store.Format;
import org.djlplan.memplan.internal.store.Kept;
import org.djlplan.memplan.internal.store.KeptElsewhere;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.internal.store.StoreLock;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.ShapeMix;
import org.djlplan.thirdparty.guava.base.Joiner;
import org.djlplan.thirdparty.guava.base.Supplier;
import org.djlplan.thirdparty.guava.base.Suppliers;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * The stored tables for one request: in files next to the model, or in its cache folder, or in a
 * folder or archive that is only read. A table that this request could not have produced is
 * rejected.
 */
public final class ProfileStore {

    /** The fact that identifies the content of the model's file. */
    private static final String CONTENT = "content";

    private final DelegableModel model;

    private final Supplier<StoreKey> key = Suppliers.memoize(this::computeKey);

    private final Request request;
    private final FolderStore<ProfileTable> beside;

    /** Creates the store of a loaded model. */
    public ProfileStore(DelegableModel model, Request request) {
        this.model = model;
        this.request = request;
        beside = of(model, request);
    }

    /** Returns the tables of a model, which need not match any request. */
    public static FolderStore<ProfileTable> of(DelegableModel model) {
        return at(format(any -> {}), model.file(), model.cacheFolder());
    }

    /**
     * Returns the tables of a model for one request; a table that this request could not have
     * produced counts as damaged, whatever its checksum.
     */
    public static FolderStore<ProfileTable> of(DelegableModel model, Request request) {
        return at(format(request::check), model.file(), model.cacheFolder());
    }

    private static Format<ProfileTable> format(Format.Check<ProfileTable> check) {
        return new Format<>("profile", 4, ProfileTable.class, check);
    }

    /**
     * Returns the key of a table: the model file's name and content, the model's facts, this
     * machine, and the request. The file is read, unless its fingerprint is stored.
     *
     * <p>The number of cores is part of the key if threads depend on it: if there are several
     * numbers to choose from, or the engine chooses.
     *
     * @throws IOException if the model's file cannot be read, or is not the one that was loaded
     * @throws IllegalArgumentException if a fact of the model has the name of a fact of the key
     */
    public static StoreKey key(DelegableModel model, Request request) throws IOException {
        List<Integer> threads = request.threads();
        Goal goal = request.goal();
        ImmutableMap.Builder<String, String> facts = ImmutableMap.builder();
        facts.putAll(model.facts());
        Fingerprint fingerprint = new Fingerprints(model.cacheFolder()).of(model.file());
        requireLoaded(model, fingerprint.identity());
        facts.put(CONTENT, fingerprint.content());
        facts.put("threads", Joiner.on(',').join(threads));
        facts.putAll(StoreKey.measuring(request.tolerance()));
        if (threads.size() != 1 || threads.get(0) == -1) {
            facts.put("cores", Integer.toString(Runtime.getRuntime().availableProcessors()));
        }
        if (!request.excluded().isEmpty()) {
            facts.put("exclude", Joiner.on(',').join(request.excluded()));
        }
        if (!request.recipes().isEmpty()) {
            facts.put("recipes", Joiner.on(',').join(request.recipes()));
        }
        facts.put("objective", goal.objective().name().toLowerCase(Locale.ROOT));
        goal.maxMemoryBytes().ifPresent(bytes -> facts.put("maxMemoryBytes", Long.toString(bytes)));
        return new StoreKey(nameOf(model.file()), facts.buildOrThrow());
    }

    /** Returns the name under which measurements of a model's file are stored. */
    public static String nameOf(Path file) {
        return file.toAbsolutePath().getFileName().toString();
    }

    private static FolderStore<ProfileTable> at(
            Format<ProfileTable> format, Path modelFile, Path cacheFolder) {
        return FolderStore.at(format, modelFile.toAbsolutePath().getParent(), cacheFolder);
    }

    /**
     * Returns all intact stored tables for the current content of a model's file, each with its
     * key. Their operators are not compared with the model's.
     *
     * @throws IOException if there is no such file, or it cannot be read
     */
    public static List<Kept<ProfileTable>> list(Path modelFile, Path cacheFolder)
            throws IOException {
        FileIdentity unused = FileIdentity.of(modelFile);
        List<Kept<ProfileTable>> all =
                at(format(any -> {}), modelFile, cacheFolder).all(nameOf(modelFile));
        if (all.isEmpty()) {
            return all;
        }
        String content = new Fingerprints(cacheFolder).of(modelFile).content();
        return all.stream()
                .filter(kept -> content.equals(kept.key().facts().get(CONTENT)))
                .collect(ImmutableList.toImmutableList());
    }

    /**
     * Returns the mixes of other shapes than those in a model's file for which tables are stored
     * that a request finds if the model is measured at these shapes. The delegate may be another
     * one, because how often shapes change may decide about it.
     *
     * @throws IOException if there is no such file, or it cannot be read
     */
    public static List<ShapeMix> mixes(DelegableModel model, Request request) throws IOException {
        List<StoreKey> keys = new ArrayList<>();
        for (Kept<ProfileTable> kept : list(model.file(), model.cacheFolder())) {
            if (kept.key().facts().containsKey(DelegableModel.SHAPES)) {
                keys.add(kept.key());
            }
        }
        if (keys.isEmpty()) {
            return List.of();
        }
        Map<String, String> wanted = anyShapes(key(model, request));
        return keys.stream()
                .filter(key -> anyShapes(key).equals(wanted))
                .flatMap(key -> mix(key).stream())
                .distinct()
                .toList();
    }

    /** Returns the facts of a key without those that shapes decide about. */
    private static Map<String, String> anyShapes(StoreKey key) {
        Map<String, String> facts = new TreeMap<>(key.facts());
        facts.remove(DelegableModel.SHAPES);
        facts.remove("delegate");
        return facts;
    }

    private static Optional<ShapeMix> mix(StoreKey key) {
        try {
            return Optional.of(ShapeMix.parse(key.facts().get(DelegableModel.SHAPES)));
        } catch (IllegalArgumentException e) {
            // Files may be forged.
            return Optional.empty();
        }
    }

    private StoreKey computeKey() {
        try {
            return key(model, request);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void requireLoaded(DelegableModel model, FileIdentity file) throws IOException {
        if (!file.toString().equals(model.identity())) {
            throw new IOException(model.file() + " was replaced or changed since it was loaded");
        }
    }

    /**
     * Returns the key of a table. Reads the model's file.
     *
     * @throws UncheckedIOException if it cannot be read, or was changed since it was loaded
     */
    public StoreKey key() {
        return key.get();
    }

    /**
     * Returns the table stored next to the model, if there is one. The model's file is not read if
     * there is no table for any key.
     *
     * @throws UncheckedIOException as in {@link #key}
     */
    public Optional<ProfileTable> besideModel() {
        return beside.hasAny(nameOf(model.file())) ? beside.load(key()) : Optional.empty();
    }

    /**
     * Returns the table of a folder or an archive, if it has one.
     *
     * @throws IOException if the folder or archive does not exist or cannot be read
     */
    public Optional<ProfileTable> in(Path location) throws IOException {
        return new KeptElsewhere<>(format(request::check), location).load(key());
    }

    /**
     * Stores a table next to the model.
     *
     * @throws UncheckedIOException if the model was changed while it was measured
     */
    public void keep(ProfileTable table) {
        try {
            requireLoaded(model, FileIdentity.of(model.file()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        beside.save(key(), table);
    }

    /**
     * Writes a table into a folder, in which {@link #in} finds it.
     *
     * @throws IOException if the folder does not exist or is not writable
     */
    public void copyTo(Path folder, ProfileTable table) throws IOException {
        beside.copyTo(folder, key(), table);
    }

    /** Tries to become the only JVM of this machine that makes the table. */
    public Optional<StoreLock> tryLock() {
        return beside.tryLock(key());
    }
}
