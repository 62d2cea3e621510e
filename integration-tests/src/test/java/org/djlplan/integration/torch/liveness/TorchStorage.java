package org.djlplan.integration.torch.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.util.NativeResource;
import com.sun.jna.Pointer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads how much memory PyTorch arrays hold. A view shares the storage of its base and keeps it
 * when the base is closed, so the sizes of arrays do not show the memory in use.
 *
 * <p>A handle points to an {@code at::Tensor}, which is a pointer to a {@code TensorImpl}. A {@code
 * TensorImpl} and a {@code StorageImpl} begin with a table of functions and two reference counts,
 * of 8 bytes each up to PyTorch 2.1 and of 4 bytes in 2.7. In a {@code TensorImpl} the pointer to
 * the storage follows; in a {@code StorageImpl} the data pointer (32 bytes) and the size.
 */
final class TorchStorage {

    private static final int TABLE_BYTES = 8;
    private static final int DATA_POINTER_BYTES = 32;

    private TorchStorage() {}

    /** Returns the bytes of these arrays' storages, each counted once. */
    static long bytesOf(List<NDArray> arrays) {
        Map<Long, Long> bytes = new HashMap<>();
        for (NDArray array : arrays) {
            long handle = (Long) ((NativeResource<?>) array).getHandle();
            Pointer tensor = new Pointer(new Pointer(handle).getLong(0));
            int begin = TABLE_BYTES + countBytes(tensor);
            bytes.computeIfAbsent(
                    tensor.getLong(begin),
                    storage -> new Pointer(storage).getLong(begin + DATA_POINTER_BYTES));
        }
        return bytes.values().stream().mapToLong(Long::longValue).sum();
    }

    /**
     * Returns the size of a reference count. If counts have 8 bytes, the second one is a small
     * number; otherwise a pointer is at its place.
     */
    private static int countBytes(Pointer tensor) {
        return Long.compareUnsigned(tensor.getLong(2 * TABLE_BYTES), 1 << 16) < 0
                ? 2 * Long.BYTES
                : 2 * Integer.BYTES;
    }
}
