package org.djlplan.memplan.planning.budget;

import com.google.common.collect.ImmutableList;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.budget.View;

/**
 * A copy of a model from which its weights can be loaded piece by piece: large constants begin
 * pages of it.
 *
 * @param original the model's file, by which the model is known
 * @param file the copy
 * @param views tensors that lie inside of others
 * @param slicedOperators how many of the model's operators were sliced
 * @param leastArenaBytes the smallest arena in which the model can run, sliced as far as it can be
 * @param derivedBeginBytes where in the copy begins what kernels derive from weights
 */
public record StreamedModel(
        Path original,
        Path file,
        List<View> views,
        int slicedOperators,
        long leastArenaBytes,
        Optional<Long> derivedBeginBytes) {

    public StreamedModel {
        views = ImmutableList.copyOf(views);
    }
}
