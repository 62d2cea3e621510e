package org.djlplan.delegation.internal.store;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.memplan.internal.store.CheckedJson;
import org.djlplan.memplan.internal.store.Codec;
import org.djlplan.memplan.internal.store.FileIdentity;
import org.djlplan.memplan.internal.store.Fingerprint;
import org.djlplan.memplan.internal.store.Fingerprints;
import org.djlplan.memplan.internal.store.FolderStore;
import org.djlplan.memplan.internal.store.Kept;
import org.djlplan.memplan.internal.store.KeptElsewhere;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.internal.store.StoreLock;
import org.djlplan.memplan.internal.store.TableJson;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
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

    /** Includes the delegate's partitions once a table did not match them. */
    private volatile Request request;

    private volatile FolderStore<ProfileTable> beside;

    /** Creates the store of a loaded model. */
    public ProfileStore(DelegableModel model, Request request) {
        this.model = model;
        this.request = request;
        beside = of(model, request);
    }

    /**
     * Returns the tables of a model; a table with operators that the model does not have counts as
     * damaged.
     */
    public static FolderStore<ProfileTable> of(DelegableModel model) {
        return at(
                new ProfileCodec(model.graph().operators().size(), Optional.empty()),
                model.file(),
                model.cacheFolder());
    }

    /**
     * Returns the tables of a model for one request; a table that this request could not have
     * produced counts as damaged, whatever its checksum.
     */
    public static FolderStore<ProfileTable> of(DelegableModel model, Request request) {
        return at(
                new ProfileCodec(model.graph().operators().size(), Optional.of(request)),
                model.file(),
                model.cacheFolder());
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
            ProfileCodec codec, Path modelFile, Path cacheFolder) {
        return FolderStore.at(codec, modelFile.toAbsolutePath().getParent(), cacheFolder);
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
                at(
                                new ProfileCodec(ProfileCodec.MOST_OPERATORS, Optional.empty()),
                                modelFile,
                                cacheFolder)
                        .all(nameOf(modelFile));
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
        return new KeptElsewhere<>(
                        new ProfileCodec(model.graph().operators().size(), Optional.of(request)),
                        location)
                .load(key());
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

    /**
     * Asks the delegate in this process whether a table matches its partitions. If not, no such
     * table is accepted from now on.
     *
     * <p>A custom delegate is asked only if the table chose it, because it then runs in this
     * process already.
     *
     * @throws CandidateException if the delegate cannot inspect the model now
     */
    public boolean confirms(ProfileTable table) throws CandidateException {
        if (!model.trusted() && table.chosen().isStock()) {
            return true;
        }
        Request known = request.offering(model.partitions());
        if (known.admits(table)) {
            return true;
        }
        request = known;
        beside = of(model, known);
        return false;
    }

    /**
     * Removes the table next to the model if it is not acceptable; another JVM may have replaced
     * it.
     */
    public void removeRejected() {
        if (besideModel().isEmpty()) {
            beside.remove(key());
        }
    }

    /**
     * Tables in files. The format, shown on several lines but written on one:
     *
     * <pre>{@code
     * {"partitions":[[0,57],[60,60,62,150]],
     *  "entries":[{"kind":"measured",…},…],
     *  "chosen":{"operators":[],"threads":2,"transientBuffers":false},"lighter":[],
     *  "reason":"…","caveat":[],"inferences":93,"nanos":9000000000}
     * }</pre>
     *
     * <p>Entries, candidates and sets of operators are as in {@link TableJson}.
     */
    private static final class ProfileCodec implements Codec<ProfileTable> {

        /** Limit of a model's operators. */
        static final int MOST_OPERATORS = 1 << 16;

        private static final int MOST_PARTITIONS = 1 << 12;
        private static final int MOST_ENTRIES = 1 << 14;
        private static final int MOST_LIGHTER = 64;

        private final int operators;
        private final Optional<Request> request;

        /**
         * @param operators limit of the operators of the model
         * @param request that tables must match; empty to show any table
         */
        ProfileCodec(int operators, Optional<Request> request) {
            this.operators = operators;
            this.request = request;
        }

        @Override
        public String kind() {
            return "profile";
        }

        @Override
        public int version() {
            return 3;
        }

        @Override
        public String ending() {
            return ".profile.json";
        }

        @Override
        public void write(JsonWriter json, ProfileTable table) throws IOException {
            checkArgument(table.partitions().size() <= MOST_PARTITIONS, "too many partitions");
            checkArgument(table.entries().size() <= MOST_ENTRIES, "too many entries");
            TableJson sets = new TableJson(operators);
            json.beginObject().name("partitions").beginArray();
            for (SortedSet<Integer> partition : table.partitions()) {
                sets.write(json, partition);
            }
            json.endArray().name("entries").beginArray();
            for (Entry entry : table.entries()) {
                sets.write(json, entry);
            }
            json.endArray().name("chosen").beginObject();
            sets.write(json, table.chosen());
            json.endObject();
            json.name("lighter").beginArray();
            for (Candidate candidate : table.lighter()) {
                json.beginObject();
                sets.write(json, candidate);
                json.endObject();
            }
            json.endArray().name("reason").value(table.reason());
            json.name("caveat").beginArray();
            if (table.caveat().isPresent()) {
                json.value(table.caveat().get());
            }
            json.endArray();
            json.name("inferences").value(table.inferences());
            json.name("nanos").value(table.nanos()).endObject();
        }

        @Override
        public ProfileTable read(CheckedJson json) throws IOException {
            return new Reader(json).table();
        }

        @Override
        public void check(ProfileTable table) throws IOException {
            if (table.reason().isEmpty()) {
                throw new IOException("a choice without a reason");
            }
            if (request.isPresent()) {
                request.get().check(table);
            }
        }

        /** Reads one table. */
        private final class Reader {

            private final CheckedJson json;
            private final TableJson sets = new TableJson(operators);

            Reader(CheckedJson json) {
                this.json = json;
            }

            ProfileTable table() throws IOException {
                json.beginObject();
                List<SortedSet<Integer>> partitions =
                        json.expect("partitions").list(MOST_PARTITIONS, () -> sets.read(json));
                List<Entry> entries =
                        json.expect("entries").list(MOST_ENTRIES, () -> sets.readEntry(json));
                json.expect("chosen").beginObject();
                Candidate chosen = sets.readCandidate(json);
                json.endObject();
                List<Candidate> lighter = json.expect("lighter").list(MOST_LIGHTER, this::lighter);
                String reason = json.expect("reason").nextString();
                List<String> caveat = json.expect("caveat").list(1, json::nextString);
                int inferences = json.expect("inferences").nextInt();
                long nanos = json.expect("nanos").nextLong();
                json.endObject();
                return new ProfileTable(
                        partitions,
                        entries,
                        chosen,
                        lighter,
                        reason,
                        caveat.stream().findFirst(),
                        inferences,
                        nanos);
            }

            private Candidate lighter() throws IOException {
                json.beginObject();
                Candidate candidate = sets.readCandidate(json);
                json.endObject();
                return candidate;
            }
        }
    }
}
