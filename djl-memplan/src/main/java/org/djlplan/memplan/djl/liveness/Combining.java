package org.djlplan.memplan.djl.liveness;

import ai.djl.ndarray.NDList;
import ai.djl.nn.ParallelBlock;
import java.lang.reflect.Field;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Reads the function by which a parallel block combines its branches, which DJL keeps private. */
final class Combining {

    private Combining() {}

    /** Returns the function, or empty if this version of DJL keeps it elsewhere. */
    @SuppressWarnings("unchecked")
    static Optional<Function<List<NDList>, NDList>> of(ParallelBlock block) {
        try {
            Field field = ParallelBlock.class.getDeclaredField("function");
            field.setAccessible(true);
            return Optional.ofNullable((Function<List<NDList>, NDList>) field.get(block));
        } catch (ReflectiveOperationException | RuntimeException e) {
            return Optional.empty();
        }
    }
}
