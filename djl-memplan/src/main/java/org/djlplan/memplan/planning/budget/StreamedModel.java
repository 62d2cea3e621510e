package org.djlplan.memplan.planning.budget;

import com.google.common.collect.ImmutableList;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.budget.View;
import org.djlplan.memplan.store.Fingerprint;

/**
 * A copy of a model from which its weights can be loaded piece by piece: large constants begin
 * pages of it.
 *
 * @param original the model's file, by which the model is known
 * @param fingerprint of the model's file when the copy was found or made
 * @param file the copy
 * @param views tensors that lie inside of others
 * @param slicedOperators how many of the model's operators were sliced
 * @param leastArenaBytes the smallest arena in which the model can run, sliced as far as it can be
 * @param derivedBeginBytes where in the copy begins what kernels derive from weights
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
     * Does nothing if the model's file is as it was when the copy was found or made.
     *
     * @throws IOException if it was changed or replaced
     */
    public void requireOriginalUnchanged() throws IOException {
        fingerprint.requireUnchanged(original);
    }
}
