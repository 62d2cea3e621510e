package org.djlplan.memplan.internal.planning.budget;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.budget.KernelSelection;
import org.djlplan.memplan.internal.budget.StepCosts;
import org.djlplan.memplan.internal.planning.budget.KernelTrials.Trial;
import org.djlplan.memplan.internal.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.internal.store.CheckedJson;
import org.djlplan.memplan.internal.store.Codec;
import org.djlplan.memplan.internal.store.FolderStore;
import org.djlplan.memplan.internal.store.OutputErrorJson;
import org.djlplan.memplan.internal.store.Store;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.internal.store.TableJson;
import org.djlplan.memplan.spi.OutputError;
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
     * @param circumstances on which the measurements depend, too: delegate, threads, …
     * @param cacheFolder for measurements that cannot be stored beside the model
     * @throws UnplannableException if the engine does not report its version
     */
    public KeptKernels(
            StreamedModel copy,
            Graph graph,
            Set<Integer> delegable,
            Tolerance tolerance,
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
                                .put("cores", Integer.toString(cores))
                                .buildOrThrow());
        store = store(graph, delegable, original.getParent(), cacheFolder);
    }

    @VisibleForTesting
    static FolderStore<KernelTrials> store(
            Graph graph, Set<Integer> delegable, Path folder, Path cacheFolder) {
        return FolderStore.at(new KernelCodec(graph, delegable), folder, cacheFolder);
    }

    /** Returns the measurements that this or another process stored. */
    public Optional<KernelTrials> load() {
        return store.load(key);
    }

    /**
     * Stores a trial, replacing an earlier one of the same steps.
     *
     * @param costs of the steps in CPU kernels; previously stored costs stay, so that the same
     *     steps are selected again
     */
    public void add(StepCosts costs, Trial trial) {
        Optional<KernelTrials> before = store.load(key);
        List<Trial> trials = new ArrayList<>(List.of(trial));
        before.map(KernelTrials::trials).orElse(List.of()).stream()
                .filter(each -> !each.steps().equals(trial.steps()))
                .limit(MOST_TRIALS - 1)
                .forEach(trials::add);
        store.save(key, new KernelTrials(before.map(KernelTrials::costs).orElse(costs), trials));
    }

    /**
     * Measurements in files; those that this graph and delegate could not have produced are
     * refused. The format, shown on several lines but written on one:
     *
     * <pre>{@code
     * {"nanos":[1000,52000],"bytesPerNano":"2.5","nanosPerLoad":20000,"trials":[
     *   {"steps":[1,1],"forBytes":4000000,"bytes":3100000,"nanos":31000,"cpuNanos":53000,
     *    "errors":[{"type":"FLOAT32",…}]}]}
     * }</pre>
     */
    private record KernelCodec(Graph graph, Set<Integer> delegable) implements Codec<KernelTrials> {

        private static final int MOST_STEPS = 1 << 16;
        private static final int MOST_OUTPUTS = 1 << 10;

        /** Two weeks; sums of smaller numbers do not overflow. */
        private static final long MOST_NANOS = 1L << 50;

        @Override
        public String kind() {
            return "kernels";
        }

        /** Version 1 did not compare operators one by one. */
        @Override
        public int version() {
            return 2;
        }

        @Override
        public String ending() {
            return ".kernels.json";
        }

        private TableJson sets() {
            return new TableJson(graph.operators().size());
        }

        @Override
        public void write(JsonWriter json, KernelTrials value) throws IOException {
            StepCosts costs = value.costs();
            TableJson sets = sets();
            json.beginObject().name("nanos").beginArray();
            for (long nanos : costs.computeNanos()) {
                json.value(nanos);
            }
            json.endArray();
            json.name("bytesPerNano").value(Double.toString(costs.loadBytesPerNano()));
            json.name("nanosPerLoad").value(costs.nanosPerLoad());
            json.name("trials").beginArray();
            for (Trial trial : value.trials()) {
                sets.write(json.beginObject().name("steps"), trial.steps());
                json.name("forBytes").value(trial.forBytes());
                json.name("bytes").value(trial.bytes());
                json.name("nanos").value(trial.nanos());
                json.name("cpuNanos").value(trial.cpuNanos());
                json.name("errors").beginArray();
                for (OutputError error : trial.errors()) {
                    OutputErrorJson.write(json, error);
                }
                json.endArray().endObject();
            }
            json.endArray().endObject();
        }

        @Override
        public KernelTrials read(CheckedJson json) throws IOException {
            TableJson sets = sets();
            json.beginObject();
            ImmutableLongArray nanos = json.expect("nanos").numbers(MOST_STEPS);
            double bytesPerNano = Double.parseDouble(json.expect("bytesPerNano").nextString());
            long nanosPerLoad = json.expect("nanosPerLoad").nextLong();
            List<Trial> trials = json.expect("trials").list(MOST_TRIALS, () -> trial(json, sets));
            json.endObject();
            return new KernelTrials(
                    new StepCosts(nanos.toArray(), bytesPerNano, nanosPerLoad), trials);
        }

        private static Trial trial(CheckedJson json, TableJson sets) throws IOException {
            json.beginObject();
            Trial trial =
                    new Trial(
                            sets.read(json.expect("steps")),
                            json.expect("forBytes").nextLong(),
                            json.expect("bytes").nextLong(),
                            json.expect("nanos").nextLong(),
                            json.expect("cpuNanos").nextLong(),
                            json.expect("errors")
                                    .list(MOST_OUTPUTS, () -> OutputErrorJson.read(json)));
            json.endObject();
            return trial;
        }

        @Override
        public void check(KernelTrials value) throws IOException {
            check(value.costs());
            List<ElementType> outputs =
                    graph.outputs().stream().map(id -> graph.tensors().get(id).type()).toList();
            KernelSelection selection =
                    new KernelSelection(graph, new long[graph.operators().size()], delegable);
            for (Trial trial : value.trials()) {
                if (!delegable.containsAll(trial.steps())) {
                    throw new IOException("steps that the delegate does not run");
                }
                if (trial.bytes() < selection.selection(trial.steps()).weightBytes()) {
                    throw new IOException("a delegate of " + trial.bytes() + " bytes");
                }
                if (trial.cpuNanos() > MOST_NANOS) {
                    throw new IOException("a prediction of " + trial.cpuNanos() + " ns");
                }
                if (!outputs.equals(trial.errors().stream().map(OutputError::type).toList())) {
                    throw new IOException("errors of other outputs");
                }
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
