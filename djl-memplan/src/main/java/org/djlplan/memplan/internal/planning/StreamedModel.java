package org.djlplan.memplan.internal.planning;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.internal.budget.View;
import org.djlplan.memplan.internal.store.Fingerprint;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A copy of a model from which its weights can be loaded piece by piece, because large constants
 * begin at page boundaries.
 *
 * @param original the model's file, which identifies the model
 * @param fingerprint the fingerprint of the model's file when the copy was found or made
 * @param file the copy
 * @param views tensors that lie inside others
 * @param slicedOperators number of sliced operators
 * @param leastArenaBytes the smallest arena in which the model can run, sliced as far as possible
 * @param derivedBeginBytes offset in the copy of the data that kernels derive from weights
 */
public record StreamedModel(
        Path original,
        Fingerprint fingerprint,
        Path file,
        List<View> views,
        int slicedOperators,
        long leastArenaBytes,
        Optional<Long> derivedBeginBytes) {

    public StreamedModel {
        views = ImmutableList.copyOf(views);
    }

    /**
     * Checks that the model's file has not changed since the copy was found or made.
     *
     * @throws IOException if it was changed or replaced
     */
    public void requireOriginalUnchanged() throws IOException {
        fingerprint.requireUnchanged(original);
    }
}
