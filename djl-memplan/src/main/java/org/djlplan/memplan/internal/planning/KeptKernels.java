package org.djlplan.memplan.internal.planning;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.budget.StepCosts;
import org.djlplan.memplan.internal.planning.KernelTrials.Faster;
import org.djlplan.memplan.internal.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.internal.store.FolderStore;
import org.djlplan.memplan.internal.store.Format;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.annotations.VisibleForTesting;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * Stores measurements of the kernels of one streamed model, next to the copy from which its weights
 * are loaded. They apply to every budget for which that copy is used.
 */
public final class KeptKernels {

    private final StoreKey key;
    private final FolderStore<KernelTrials> store;

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
                        format(graph.operators().size(), delegable),
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
        store.save(key, load().orElse(new KernelTrials(costs)).with(trial));
    }

    /** Stores a candidate that is not to be tried again; previously stored costs stay. */
    public void add(StepCosts costs, Entry.Wrong entry) {
        store.save(key, load().orElse(new KernelTrials(costs)).with(entry));
    }

    /**
     * Returns the format of measurements, which rejects those of another graph or delegate.
     *
     * @param steps number of steps
     * @param delegable steps that the delegate supports
     */
    @VisibleForTesting
    static Format<KernelTrials> format(int steps, Set<Integer> delegable) {
        return new Format<>(
                "kernels", 4, KernelTrials.class, value -> check(value, steps, delegable));
    }

    private static void check(KernelTrials value, int steps, Set<Integer> delegable)
            throws IOException {
        if (value.costs().steps() != steps) {
            throw new IOException("the costs of " + value.costs().steps() + " steps");
        }
        if (!value.candidates().allMatch(each -> delegable.containsAll(each.operators()))) {
            throw new IOException("steps that the delegate does not run");
        }
    }
}
