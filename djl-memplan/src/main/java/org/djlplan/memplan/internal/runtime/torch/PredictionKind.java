package org.djlplan.memplan.internal.runtime.torch;

import java.util.List;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A kind of predictions: the conditions that determine a model's allocations.
 *
 * @param inputs the types and shapes of the inputs
 * @param threads the engine's number of threads
 */
record PredictionKind(ImmutableList<ArrayType> inputs, int threads) {

    /** Returns the kind of predictions with such inputs under this thread's settings. */
    static PredictionKind of(List<ArrayType> inputs) {
        return new PredictionKind(ImmutableList.copyOf(inputs), TorchSettings.threads());
    }
}
