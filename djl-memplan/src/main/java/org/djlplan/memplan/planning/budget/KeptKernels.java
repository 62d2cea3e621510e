package org.djlplan.memplan.planning.budget;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.budget.StepCosts;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.planning.budget.KernelTrials.Trial;
import org.djlplan.memplan.runtime.WeightStream;
import org.djlplan.memplan.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.runtime.tflite.UnplannableException;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.memplan.store.CpuFeatures;
import org.djlplan.memplan.store.FolderStore;
import org.djlplan.memplan.store.Store;
import org.djlplan.memplan.store.StoreKey;

/**
 * What was measured of the kernels of one streamed model, kept where the copy is from which its
 * weights are loaded. It holds for every budget in which that copy is used.
 */
public final class KeptKernels {

    private final StoreKey key;
    private final Store<KernelTrials> store;

    /**
     * What is asked for: what is kept is believed only if measuring for it could have made it.
     *
     * @param graph of the copy, one step for each operator, in execution order
     * @param delegable steps that the delegate may run
     * @param tolerance by which outputs are judged
     * @param delegate its name
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
     * @param cacheFolder for what cannot be kept beside the model
     * @throws UnplannableException if the engine does not tell its version
     */
    public KeptKernels(StreamedModel copy, Request request, Path cacheFolder)
            throws UnplannableException {
        Path original = copy.original().toAbsolutePath();
        key =
                new StoreKey(
                        original.getFileName().toString(),
                        ImmutableMap.<String, String>builder()
                                .put("content", copy.fingerprint().content())
                                // Its name is made of all that it depends on, slices included.
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

    /** Returns what was measured before, here or by another process. */
    public Optional<KernelTrials> load() {
        return store.load(key);
    }

    /**
     * Keeps a trial, in the place of an earlier one of the same steps.
     *
     * @param costs of the steps in CPU kernels; those that were kept before stay, so that the same
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
