package org.djlplan.integration.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.util.NativeResource;
import com.sun.jna.Pointer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads how much memory PyTorch arrays hold. A view shares the storage of its base, and keeps it
 * when the base is closed, so sizes of arrays do not tell.
 *
 * <p>A handle points to an {@code at::Tensor}, which is a pointer to a {@code TensorImpl}. That
 * begins, like a {@code StorageImpl}, with a table of functions and two reference counts; then
 * follows, respectively, the pointer to the storage, and the data pointer (32 bytes) and size.
 */
final class TorchStorage {

    private static final int AFTER_COUNTS = 24;
    private static final int SIZE_OFFSET = AFTER_COUNTS + 32;

    private TorchStorage() {}

    /** Returns the bytes behind these arrays, each storage counted once. */
    static long bytesOf(List<NDArray> arrays) {
        Map<Long, Long> bytes = new HashMap<>();
        for (NDArray array : arrays) {
            long handle = (Long) ((NativeResource<?>) array).getHandle();
            long storage = new Pointer(new Pointer(handle).getLong(0)).getLong(AFTER_COUNTS);
            bytes.computeIfAbsent(storage, key -> new Pointer(key).getLong(SIZE_OFFSET));
        }
        return bytes.values().stream().mapToLong(Long::longValue).sum();
    }
}
