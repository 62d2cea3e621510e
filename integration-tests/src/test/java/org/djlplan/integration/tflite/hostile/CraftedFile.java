package org.djlplan.integration.tflite.hostile;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.djlplan.integration.support.ModelSketch;

/**
 * A model of one operator with a parameter, a constant or an input that no converter writes.
 *
 * @param name the operator and the defect
 * @param model the model
 * @param inputs the values to predict with
 * @param shapes the shapes of the inputs
 */
record CraftedFile(
        String name, ModelSketch model, List<ByteBuffer> inputs, List<List<Integer>> shapes) {

    /** An empty model. */
    CraftedFile(String name) {
        this(name, new ModelSketch(), new ArrayList<>(), new ArrayList<>());
    }
}
