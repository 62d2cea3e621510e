package org.djlplan.memplan.internal.planning.budget;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.budget.KernelSelection;
import org.djlplan.memplan.internal.budget.StepCosts;
import org.djlplan.memplan.internal.planning.budget.KernelTrials.Faster;
import org.djlplan.memplan.internal.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.internal.store.CheckedJson;
import org.djlplan.memplan.internal.store.Codec;
import org.djlplan.memplan.internal.store.FolderStore;
import org.djlplan.memplan.internal.store.Store;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.internal.store.TableJson;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.internal.table.Entry.Acceptance;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.annotations.VisibleForTesting;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;

/**
 * Stores measurements of the kernels of one streamed model, next to the copy from which its weights
 * are loaded. They apply to every budget for which that copy is used.
 */
public final class KeptKernels {

    private static final int MOST_TRIALS = 8;

    private final StoreKey key;
    private final Store<KernelTrials> store;

    /**
     * @param copy of the model
     * @param graph of the copy, with one step per operator, in execution order
     * @param delegable steps that the delegate supports
     * @param tolerance for the outputs
     * @param threads per prediction
     * @param circumstances that the measurements also depend on, such as the delegate
     * @param cacheFolder for measurements that cannot be stored beside the model
     * @throws UnplannableException if the engine does not report its version
     */
    public KeptKernels(
            StreamedModel copy,
            Graph graph,
            Set<Integer> delegable,
            Tolerance tolerance,
            int threads,
            Map<String, String> circumstances,
            Path cacheFolder)
            throws UnplannableException {
        Path original = copy.original().toAbsolutePath();
        int cores = Runtime.getRuntime().availableProcessors();
        key =
                new StoreKey(
                        original.getFileName().toString(),
                        ImmutableMap.<String, String>builder()
                                .putAll(circumstances)
                                .putAll(StoreKey.measuring(tolerance))
                                .put("content", copy.fingerprint().content())
                                // The name of the copy contains everything that the copy depends
                                // on, including slices.
                                .put("copy", copy.file().getFileName().toString())
                                .put("engine", "TFLite " + EngineLibrary.loaded().version())
                                .put("threads", Integer.toString(threads))
                                .put("cores", Integer.toString(cores))
                                .buildOrThrow());
        store =
                FolderStore.at(
                        new KernelCodec(graph, delegable, Acceptance.of(graph, tolerance), threads),
                        original.getParent(),
                        cacheFolder);
    }

    /** Returns the measurements that this or another process stored. */
    public Optional<KernelTrials> load() {
        return store.load(key);
    }

    /**
     * Stores a candidate that may serve, replacing an earlier row of the same steps.
     *
     * @param costs of the steps in CPU kernels; previously stored costs stay, so that the same
     *     steps are selected again
     */
    public void add(StepCosts costs, Faster trial) {
        KernelTrials before = load().orElse(new KernelTrials(costs));
        Stream<Faster> others =
                before.faster().stream().filter(each -> !each.steps().equals(trial.steps()));
        store.save(key, new KernelTrials(before.costs(), latest(trial, others), before.wrong()));
    }

    /** Stores a candidate that is not to be tried again; previously stored costs stay. */
    public void add(StepCosts costs, Entry.Wrong entry) {
        KernelTrials before = load().orElse(new KernelTrials(costs));
        Stream<Entry.Wrong> others =
                before.wrong().stream()
                        .filter(
                                each ->
                                        !each.candidate()
                                                .operators()
                                                .equals(entry.candidate().operators()));
        List<Entry.Wrong> wrong = latest(entry, others);
        store.save(key, new KernelTrials(before.costs(), before.faster(), wrong));
    }

    private static <T> List<T> latest(T first, Stream<T> others) {
        return Stream.concat(Stream.of(first), others).limit(MOST_TRIALS).toList();
    }

    /**
     * Reads and writes files of measurements, and rejects measurements that this graph and delegate
     * could not have produced. The format, shown on several lines but written on one, with entries
     * as in {@link TableJson}:
     *
     * <pre>{@code
     * {"nanos":[1000,52000],"bytesPerNano":"2.5","nanosPerLoad":20000,
     *  "faster":[{"forBytes":4000000,"cpuNanos":53000,"entry":{"kind":"measured",…}}],
     *  "wrong":[{"kind":"wrong",…}]}
     * }</pre>
     *
     * @param graph the graph of the copy
     * @param delegable steps that the delegate supports
     * @param acceptance the rules by which candidates are accepted
     * @param threads number of threads of each candidate
     */
    @VisibleForTesting
    record KernelCodec(Graph graph, Set<Integer> delegable, Acceptance acceptance, int threads)
            implements Codec<KernelTrials> {

        private static final int MOST_STEPS = 1 << 16;

        /** Two weeks; sums of smaller numbers do not overflow. */
        private static final long MOST_NANOS = 1L << 50;

        @Override
        public String kind() {
            return "kernels";
        }

        /** Version 1 did not compare operators one by one; version 2 had another format of rows. */
        @Override
        public int version() {
            return 3;
        }

        @Override
        public String ending() {
            return ".kernels.json";
        }

        private TableJson rows() {
            return new TableJson(graph.operators().size());
        }

        @Override
        public void write(JsonWriter json, KernelTrials value) throws IOException {
            StepCosts costs = value.costs();
            TableJson rows = rows();
            json.beginObject().name("nanos").beginArray();
            for (long nanos : costs.computeNanos()) {
                json.value(nanos);
            }
            json.endArray();
            json.name("bytesPerNano").value(Double.toString(costs.loadBytesPerNano()));
            json.name("nanosPerLoad").value(costs.nanosPerLoad());
            json.name("faster").beginArray();
            for (Faster trial : value.faster()) {
                json.beginObject().name("forBytes").value(trial.forBytes());
                json.name("cpuNanos").value(trial.cpuNanos());
                rows.write(json.name("entry"), trial.entry());
                json.endObject();
            }
            json.endArray().name("wrong").beginArray();
            for (Entry entry : value.wrong()) {
                rows.write(json, entry);
            }
            json.endArray().endObject();
        }

        @Override
        public KernelTrials read(CheckedJson json) throws IOException {
            TableJson rows = rows();
            json.beginObject();
            ImmutableLongArray nanos = json.expect("nanos").numbers(MOST_STEPS);
            double bytesPerNano = Double.parseDouble(json.expect("bytesPerNano").nextString());
            long nanosPerLoad = json.expect("nanosPerLoad").nextLong();
            List<Faster> faster = json.expect("faster").list(MOST_TRIALS, () -> faster(json, rows));
            List<Entry.Wrong> wrong =
                    json.expect("wrong")
                            .list(MOST_TRIALS, () -> row(Entry.Wrong.class, json, rows));
            json.endObject();
            return new KernelTrials(
                    new StepCosts(nanos.toArray(), bytesPerNano, nanosPerLoad), faster, wrong);
        }

        private static Faster faster(CheckedJson json, TableJson rows) throws IOException {
            json.beginObject();
            long forBytes = json.expect("forBytes").nextLong();
            long cpuNanos = json.expect("cpuNanos").nextLong();
            Entry.Measured entry = row(Entry.Measured.class, json.expect("entry"), rows);
            json.endObject();
            return new Faster(entry, forBytes, cpuNanos);
        }

        private static <T extends Entry> T row(Class<T> kind, CheckedJson json, TableJson rows)
                throws IOException {
            Entry entry = rows.readEntry(json);
            if (!kind.isInstance(entry)) {
                throw new IOException("another kind of row than " + kind.getSimpleName());
            }
            return kind.cast(entry);
        }

        @Override
        public void check(KernelTrials value) throws IOException {
            check(value.costs());
            KernelSelection selection =
                    new KernelSelection(graph, new long[graph.operators().size()], delegable);
            for (Faster trial : value.faster()) {
                check(trial.entry().candidate());
                acceptance.check(trial.entry(), trial.forBytes());
                if (trial.entry().memoryBytes()
                        < selection.selection(trial.steps()).weightBytes()) {
                    throw new IOException(
                            "a delegate of " + trial.entry().memoryBytes() + " bytes");
                }
                if (trial.cpuNanos() > MOST_NANOS) {
                    throw new IOException("a prediction of " + trial.cpuNanos() + " ns");
                }
            }
            for (Entry.Wrong entry : value.wrong()) {
                check(entry.candidate());
                acceptance.check(entry.errors());
            }
        }

        private void check(Candidate candidate) throws IOException {
            if (!delegable.containsAll(candidate.operators())) {
                throw new IOException("steps that the delegate does not run");
            }
            if (candidate.threads() != threads || candidate.transientBuffers()) {
                throw new IOException("a candidate that was not tried: " + candidate);
            }
        }

        private void check(StepCosts costs) throws IOException {
            if (costs.steps() != graph.operators().size()) {
                throw new IOException("the costs of " + costs.steps() + " steps");
            }
            for (long nanos : costs.computeNanos()) {
                if (nanos < 0 || nanos > MOST_NANOS / costs.steps()) {
                    throw new IOException("a step of " + nanos + " ns");
                }
            }
            if (!Double.isFinite(costs.loadBytesPerNano())
                    || costs.loadBytesPerNano() < 1e-9
                    || costs.nanosPerLoad() < 0
                    || costs.nanosPerLoad() > MOST_NANOS) {
                throw new IOException("loads that never end");
            }
        }
    }
}
