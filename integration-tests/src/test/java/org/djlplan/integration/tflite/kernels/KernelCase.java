package org.djlplan.integration.tflite.kernels;

import java.util.List;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A model in which one operator overwrites an intermediate tensor.
 *
 * @param name the name of the case
 * @param model the model
 * @param inputs the types and shapes of the model's inputs
 * @param shared the tensors that share a place: the overwritten tensor and the result
 * @param copies whether the model only copies, so that every output equals input 0
 */
record KernelCase(
        String name,
        ModelSketch model,
        List<ModelSketch.Form> inputs,
        List<Integer> shared,
        boolean copies) {

    KernelCase {
        inputs = ImmutableList.copyOf(inputs);
        shared = ImmutableList.sortedCopyOf(shared);
    }

    @Override
    public String toString() {
        return name;
    }
}
