package org.djlplan.memplan.source.tflite;

import com.google.common.collect.ImmutableList;
import java.util.List;

/**
 * Names for the inputs and outputs of a subgraph.
 *
 * @param inputs names of inputs
 * @param outputs names of outputs
 * @param key name of the signature
 * @param deprecatedTag a field that newer files leave empty
 * @param subgraph index of the subgraph
 */
public record TfLiteSignature(
        List<Entry> inputs, List<Entry> outputs, String key, String deprecatedTag, int subgraph) {

    public TfLiteSignature {
        inputs = ImmutableList.copyOf(inputs);
        outputs = ImmutableList.copyOf(outputs);
    }

    /**
     * One name.
     *
     * @param name the name
     * @param tensor index of the tensor in the subgraph
     */
    public record Entry(String name, int tensor) {}
}
