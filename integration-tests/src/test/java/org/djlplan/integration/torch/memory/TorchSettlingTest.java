package org.djlplan.integration.torch.memory;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModel;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that memory that the C library has kept from earlier frees is returned to the system after
 * a model was loaded, before the first prediction.
 */
@OnEveryDjlWhenLong
class TorchSettlingTest {

    private static final TorchScriptModel SMALL = TorchScriptModels.named("cnn");

    /** Smaller than blocks that the C library maps separately and returns to the system. */
    private static final int BLOCK_BYTES = 64 << 10;

    private static final int BLOCKS = 2048;

    /** One in this number of blocks stays in use, so that no heap ends in free memory. */
    private static final int KEPT = 16;

    @TempDir Path folder;

    private final ProcessMemory memory = new ProcessMemory();

    /** Leaves freed memory that was written between blocks in use, and returns these blocks. */
    private static List<Long> leaveHoles() {
        List<Long> all = new ArrayList<>();
        for (int i = 0; i < BLOCKS; i++) {
            long block = Native.malloc(BLOCK_BYTES);
            all.add(block);
            new Pointer(block).setMemory(0, BLOCK_BYTES, (byte) 1);
        }
        List<Long> kept = new ArrayList<>();
        for (int i = 0; i < BLOCKS; i++) {
            if (i % KEPT == KEPT - 1) {
                kept.add(all.get(i));
            } else {
                Native.free(all.get(i));
            }
        }
        return kept;
    }

    private long anonymousBytes() {
        return memory.anonymousBytes().orElseThrow();
    }

    @Test
    void load_withoutPrediction_theSystemGetsItBack() throws Exception {
        try (ZooModel<NDList, NDList> model = Torch.load(Torch.copy(SMALL, folder), Map.of())) {
            List<Long> kept = leaveHoles();
            try {
                long before = anonymousBytes();
                long most = before - (long) BLOCKS * BLOCK_BYTES / 2;
                Await.until(
                        () -> anonymousBytes() < most, () -> anonymousBytes() + " of " + before);
                Torch.predict(model, SMALL.inputSets().get(0), 1);
            } finally {
                kept.forEach(Native::free);
            }
        }
    }
}
