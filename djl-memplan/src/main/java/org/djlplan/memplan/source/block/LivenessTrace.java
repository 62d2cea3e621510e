package org.djlplan.memplan.source.block;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import java.util.List;
import org.djlplan.memplan.graph.ArrayType;

/**
 * All arrays that a block created during one prediction, in order of creation, and when each was
 * used last. The number of an array is its position here.
 *
 * @param arrays the arrays
 */
public record LivenessTrace(List<CreatedArray> arrays) {

    public LivenessTrace {
        arrays = ImmutableList.copyOf(arrays);
        for (int i = 0; i < arrays.size(); i++) {
            int closedAt = arrays.get(i).closedAt().orElse(i + 1);
            checkArgument(
                    closedAt > i && closedAt <= arrays.size(),
                    "array %s of %s is closed at %s",
                    i,
                    arrays.size(),
                    closedAt);
        }
    }

    /**
     * Returns the trace of a prediction with inputs of other shapes that did the same.
     *
     * @param types of its arrays, in order of creation
     */
    public LivenessTrace withTypes(List<ArrayType> types) {
        checkArgument(types.size() == arrays.size(), "%s types", types.size());
        ImmutableList.Builder<CreatedArray> retyped = ImmutableList.builder();
        for (int i = 0; i < types.size(); i++) {
            retyped.add(new CreatedArray(types.get(i), arrays.get(i).closedAt()));
        }
        return new LivenessTrace(retyped.build());
    }
}
