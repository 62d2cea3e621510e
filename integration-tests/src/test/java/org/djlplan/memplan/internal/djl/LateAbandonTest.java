package org.djlplan.memplan.internal.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.nn.Block;
import ai.djl.nn.SequentialBlock;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.integration.torch.BlockModels;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.memplan.internal.config.GivenOptions;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.runtime.torch.StreamedWeights;
import org.djlplan.memplan.internal.runtime.torch.WeightFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests a load that is abandoned after it has ended, for example because a limit is reached late.
 */
class LateAbandonTest {

    private static final int LAYERS = 8;
    private static final int UNITS = 1024;
    private static final long ROOM_BYTES = 64 << 20;

    /** Room for a part of the weights, and for the engine's other memory. */
    private static final String BUDGET = "50MB:direct";

    @TempDir private Path folder;

    @BeforeEach
    void saveModel() throws Exception {
        Torch.threads(1);
        BlockModels.save(layers(), folder);
    }

    private static SequentialBlock layers() {
        SequentialBlock block = new SequentialBlock();
        for (int i = 0; i < LAYERS; i++) {
            block.add(BlockModels.linear(UNITS));
        }
        return block;
    }

    private static List<Output> predict(ZooModel<NDList, NDList> model) throws Exception {
        return Torch.predict(model, BlockModels.INPUTS, 0);
    }

    /** Makes a loaded model run in a budget, with its weights in a file. */
    private static void plan(ZooModel<NDList, NDList> model, WeightFile file) throws Exception {
        assertEquals(Optional.empty(), PyTorchPlanning.problem(model));
        Block block = model.getBlock();
        ParameterMove.move(block, file);
        PlanOptions options =
                PlanOptions.parse(
                        GivenOptions.of(
                                Map.of("memplan.budget", BUDGET), Map.of(), Map.of(), List.of()));
        StreamedWeights weights =
                new StreamedWeights(
                        model.getName(),
                        BudgetedWeights.resolver(options.budget().budget(), file.bytes()),
                        options.budget(),
                        file,
                        0,
                        Map::of);
        BudgetedWeights.Loaded loaded = new BudgetedWeights.Loaded(block, Optional.of(weights), 0);
        PyTorchPlanning.replaceBlock(
                model,
                new PyTorchPlanning(options, Optional.empty(), Optional.empty())
                        .wrap(model, block, Optional.of(loaded)));
    }

    @Test
    void abandonLoad_weightsAreCopiesInMemory_changesNoAnswer() throws Exception {
        WeightFile file = WeightFile.create(folder, ROOM_BYTES);
        try (ZooModel<NDList, NDList> model = BlockModels.loadStock(layers(), folder)) {
            List<Output> expected = predict(model);
            plan(model, file);
            for (int i = 0; i < 10; i++) {
                assertEquals(expected, predict(model));
            }
            var resident = ModelHandle.of(model).orElseThrow().residentWeights().orElseThrow();
            assertTrue(resident.pinnedBytes() > 0);
            file.abandonLoad();
            assertEquals(expected, predict(model));
        }
        file.abandonLoad();
    }
}
