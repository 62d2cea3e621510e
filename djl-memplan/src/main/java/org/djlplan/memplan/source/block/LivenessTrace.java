package org.djlplan.memplan.source.block;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import java.util.List;

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
}
