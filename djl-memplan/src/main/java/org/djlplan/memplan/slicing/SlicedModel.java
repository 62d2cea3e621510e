package org.djlplan.memplan.slicing;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import java.util.List;
import java.util.Set;
import org.djlplan.memplan.budget.View;
import org.djlplan.memplan.source.tflite.TfLiteFile;

/**
 * A model of which some layers are sliced. It computes the same bits as before; tensors keep their
 * indices, new ones follow. Constants that nothing reads any more are empty.
 *
 * <p>Slicing adds SLICE and CONCATENATION operators. Where each lies as it should already, as its
 * small tensor is a view of the large one, the operator need not run: it is elided. A runtime that
 * ignores views and runs all operators gets the same results, too.
 *
 * @param file the model
 * @param views tensors that are to lie inside of others; offsets are multiples of {@link
 *     Slicer#ALIGNMENT_BYTES}
 * @param elidedOperators indices of the operators that do nothing once all views are in place
 */
public record SlicedModel(TfLiteFile file, List<View> views, Set<Integer> elidedOperators) {

    public SlicedModel {
        views = ImmutableList.copyOf(views);
        elidedOperators = ImmutableSet.copyOf(elidedOperators);
    }
}
