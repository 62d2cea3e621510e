package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.ndarray.NDArray;
import java.lang.reflect.Field;
import java.util.Optional;

/**
 * Detects arrays in Java direct buffers. Only the array object keeps the buffer from being
 * garbage-collected; a view of the array keeps only the engine's tensor. Closing the array before
 * its views would leave the views in freed memory. Such arrays are never closed early.
 */
final class DirectBuffers {

    private static final ClassValue<Optional<Field>> REFERENCES =
            new ClassValue<>() {
                @Override
                protected Optional<Field> computeValue(Class<?> type) {
                    try {
                        Field field = type.getDeclaredField("dataRef");
                        field.setAccessible(true);
                        return Optional.of(field);
                    } catch (ReflectiveOperationException | RuntimeException e) {
                        return Optional.empty();
                    }
                }
            };

    private DirectBuffers() {}

    /** Returns whether this can be determined for the array's class. */
    static boolean known(NDArray array) {
        return REFERENCES.get(array.getClass()).isPresent();
    }

    /** Returns whether the array may lie in a direct buffer. */
    static boolean mayUseDirectBuffer(NDArray array) {
        Optional<Field> reference = REFERENCES.get(array.getClass());
        try {
            return reference.isPresent() && reference.get().get(array) != null;
        } catch (IllegalAccessException e) {
            return true;
        }
    }
}
