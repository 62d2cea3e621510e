package org.djlplan.integration.torch.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Path;
import java.util.List;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModel;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.internal.runtime.ArenaMetric;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests which models have or share arenas, and when arenas are freed. */
@OnEveryDjl
class TorchArenaTest {

    private static final TorchScriptModel LARGE = TorchScriptModels.named("wide");
    private static final TorchScriptModel SMALL = TorchScriptModels.named("cnn");

    /** A page by which an arena is rounded up, and one that kernels may read. */
    private static final long ROUNDING_BYTES = 2 * 4096;

    @TempDir Path folder;

    @BeforeEach
    void oneThread() {
        Torch.threads(1);
    }

    @AfterEach
    void everythingIsFreed() {
        Torch.assertNoArenas();
    }

    private static ArenaMetric arenas() {
        return ArenaPool.shared().metric();
    }

    private static ModelInputs largest(TorchScriptModel model) {
        return model.inputSets().get(1);
    }

    private static void predict(TorchScriptModel catalogued, ZooModel<NDList, NDList> model)
            throws Exception {
        List<List<Output>> expected = Torch.stock(catalogued.file(), largest(catalogued), 3);
        for (int seed = 0; seed < 3; seed++) {
            assertEquals(expected.get(seed), Torch.predict(model, largest(catalogued), seed));
        }
    }

    private static void assertOneArenaFor(ZooModel<NDList, NDList> model) {
        long needed = Torch.report(model).plan().arenaBytes();
        assertEquals(1, arenas().arenas());
        assertTrue(arenas().arenaBytes() >= needed, arenas().toString());
        assertTrue(arenas().arenaBytes() <= needed + ROUNDING_BYTES, arenas().toString());
    }

    @Test
    void predict_modelsInTurns_shareOneArenaOfTheLargest() throws Exception {
        try (ZooModel<NDList, NDList> small = Torch.load(SMALL.name(), folder)) {
            try (ZooModel<NDList, NDList> large = Torch.load(LARGE.name(), folder)) {
                for (int round = 0; round < 3; round++) {
                    predict(SMALL, small);
                    predict(LARGE, large);
                    assertOneArenaFor(large);
                }
                assertTrue(
                        Torch.report(large).plan().arenaBytes()
                                > 2 * Torch.report(small).plan().arenaBytes());
            }
            predict(SMALL, small);
            assertOneArenaFor(small);
        }
        assertEquals(0, arenas().arenas());
    }
}
