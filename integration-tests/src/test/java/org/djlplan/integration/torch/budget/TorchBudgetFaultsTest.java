package org.djlplan.integration.torch.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ModelException;
import ai.djl.ndarray.NDList;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.torch.BlockModels;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.thirdparty.guava.base.Throwables;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests loads for which the file for weights cannot be created. */
class TorchBudgetFaultsTest {

    private static final int UNITS = 512;

    @TempDir private Path folder;
    private Runnable undo;
    private List<Output> expected;

    @BeforeEach
    void saveAndPredictStock() throws Exception {
        BlockModels.save(block(), folder);
        try (ZooModel<NDList, NDList> model = BlockModels.loadStock(block(), folder)) {
            expected = Torch.predict(model, BlockModels.INPUTS, 0);
        }
        Path cache = Files.createDirectory(folder.resolve("cache"));
        // This is not a folder, so not even root can create files in it.
        Files.writeString(cache.resolve("djl-plan"), "in the way");
        undo = Torch.useCache(cache);
    }

    @AfterEach
    void restoreCache() {
        undo.run();
    }

    private static SequentialBlock block() {
        SequentialBlock block = new SequentialBlock();
        for (int i = 0; i < 3; i++) {
            block.add(Linear.builder().setUnits(UNITS).build());
        }
        return block;
    }

    private ZooModel<NDList, NDList> load(String budget) throws Exception {
        return BlockModels.load(block(), folder, Map.of("memplan.budget", budget));
    }

    @Test
    void load_noPlaceForWeights_failsAndSaysWhy() {
        ModelException refused = assertThrows(ModelException.class, () -> load("40MB"));
        String all = Throwables.getStackTraceAsString(refused);
        assertTrue(all.contains("is not held inside its budget"), all);
    }

    @Test
    void load_noPlaceForWeightsBestEffort_runsInTheEnginesMemory() throws Exception {
        try (LogCapture log = new LogCapture();
                ZooModel<NDList, NDList> model = load("40MB:best-effort")) {
            assertEquals(1, log.ours("WARN").size(), log.lines().toString());
            for (int i = 0; i < 3; i++) {
                assertEquals(expected, Torch.predict(model, BlockModels.INPUTS, 0));
            }
            assertFalse(Torch.report(model).budget().isPresent());
        }
    }
}
