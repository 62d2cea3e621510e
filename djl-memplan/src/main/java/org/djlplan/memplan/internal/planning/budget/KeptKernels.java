package org.djlplan.memplan.internal.planning.budget;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.budget.StepCosts;
import org.djlplan.memplan.internal.planning.budget.KernelTrials.Trial;
import org.djlplan.memplan.internal.runtime.WeightStream;
import org.djlplan.memplan.internal.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.internal.store.CpuFeatures;
import org.djlplan.memplan.internal.store.FolderStore;
import org.djlplan.memplan.internal.store.Store;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.spi.Tolerance;

/**
 * Stores measurements of the kernels of one streamed model, next to the copy from which its weights
 * are loaded. They apply to every budget for which that copy is used.
 */
public final class KeptKernels {

    private final StoreKey key;
    private final Store<KernelTrials> store;

    /**
     * The properties of a request; stored measurements are accepted only if this request could have
     * produced them.
     *
     * @param graph of the copy, with one step per operator, in execution order
     * @param delegable steps that the delegate supports
     * @param tolerance for the outputs
     * @param delegate name of the delegate
     * @param threads of the engine, −1 for its default
     * @param io how weights are read
     */
    public record Request(
            Graph graph,
            Set<Integer> delegable,
            Tolerance tolerance,
            String delegate,
            int threads,
            WeightStream.Io io) {

        public Request {
            delegable = ImmutableSet.copyOf(delegable);
        }
    }

    /**
     * @param copy of the model
     * @param cacheFolder for measurements that cannot be stored beside the model
     * @throws UnplannableException if the engine does not report its version
     */
    public KeptKernels(StreamedModel copy, Request request, Path cacheFolder)
            throws UnplannableException {
        Path original = copy.original().toAbsolutePath();
        key =
                new StoreKey(
                        original.getFileName().toString(),
                        ImmutableMap.<String, String>builder()
                                .put("content", copy.fingerprint().content())
                                // The name of the copy contains everything that the copy depends
                                // on, including slices.
                                .put("copy", copy.file().getFileName().toString())
                                .put("engine", "TFLite " + EngineLibrary.loaded().version())
                                .put("delegate", request.delegate())
                                .put("threads", Integer.toString(request.threads()))
                                .put("io", request.io().name())
                                .put("cpu", CpuFeatures.current())
                                .put(
                                        "cores",
                                        Integer.toString(
                                                Runtime.getRuntime().availableProcessors()))
                                .put("tolerance", request.tolerance().toString())
                                .put("rule", Integer.toString(Tolerance.VERSION))
                                .buildOrThrow());
        store = FolderStore.at(new KernelTrialsCodec(request), original.getParent(), cacheFolder);
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
                .limit(KernelTrialsCodec.MOST_TRIALS - 1)
                .forEach(trials::add);
        store.save(key, new KernelTrials(before.map(KernelTrials::costs).orElse(costs), trials));
    }
}
