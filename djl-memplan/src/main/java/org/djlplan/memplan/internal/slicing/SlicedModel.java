package org.djlplan.memplan.internal.slicing;

import java.util.List;
import org.djlplan.memplan.internal.budget.View;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A model with some sliced layers. It computes the same bits as before; tensors keep their indices,
 * and new ones follow. Constants without readers are empty.
 *
 * <p>Slicing adds SLICE and CONCATENATION operators. If the small tensor of such an operator is a
 * view of the large one, the operator need not run: it is elided. A runtime that ignores views and
 * runs all operators computes the same results.
 *
 * @param file the model
 * @param views tensors that should lie inside others; offsets are multiples of {@link
 *     Slicer#ALIGNMENT_BYTES}
 */
public record SlicedModel(TfLiteFile file, List<View> views) {

    public SlicedModel {
        views = ImmutableList.copyOf(views);
    }
}
