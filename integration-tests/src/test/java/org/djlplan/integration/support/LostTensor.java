package org.djlplan.integration.support;

import java.util.List;
import java.util.Optional;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.source.tflite.FlatTable;

/**
 * A model in which the memory planner of TensorFlow Lite 2.20 and later loses a tensor: an operator
 * overwrites a view of a view of a tensor, although another view of that tensor is read later.
 */
public final class LostTensor {

    private static final int[] SHAPE = {1, 4, 6, 5};

    /** The model's only input. */
    public static final Form INPUT = Form.of(ElementType.FLOAT32, SHAPE);

    private LostTensor() {}

    /** Returns the model. */
    public static ModelSketch sketch() {
        ModelSketch model = new ModelSketch();
        int begin = model.floatOperator("NEG", SHAPE, model.input(INPUT));
        int view = model.reshape(begin, INPUT.shaped(List.of(24, 5)));
        int viewOfView = model.reshape(view, INPUT);
        FlatTable options = FlatTable.of("SoftmaxOptions").with("beta", 1f);
        int written = model.operator("SOFTMAX", Optional.of(options), INPUT, viewOfView);
        int late = model.floatOperator("ABS", new int[] {24, 5}, view);
        model.output(late, model.floatOperator("ABS", SHAPE, written));
        return model;
    }
}
