package org.djlplan.integration.torch.liveness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.integration.torch.Torch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that DJL's own networks compute the same bits in far less memory. */
@Tag("djl-current")
@Tag("long")
class LivenessZooTest {

    @TempDir Path folder;

    @BeforeEach
    void oneThread() {
        Torch.threads(1);
    }

    @ParameterizedTest
    @EnumSource(ZooBlocks.class)
    void predict_zooBlock_sameBitsInLessMemory(ZooBlocks zoo) throws Exception {
        Runnable resetCache = Torch.useCache(folder);
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            Block block = zoo.initialized(manager);
            for (long batch : new long[] {1, 8}) {
                BlockAnswers.Inputs input = given -> zoo.inputs(given, batch);
                List<BlockAnswers.Inputs> inputs = List.of(input, input, input);
                BlockAnswers stock = BlockAnswers.stock(block, inputs);
                BlockAnswers unclosed =
                        BlockAnswers.planned(block, Map.of("memplan.liveness", "off"), inputs);
                BlockAnswers closed = BlockAnswers.planned(block, Map.of(), inputs);
                assertEquals(stock.outputs(), unclosed.outputs());
                assertEquals(stock.outputs(), closed.outputs());
                assertEquals(Optional.empty(), closed.report().orElseThrow().unclosedReason());
                double share = (double) closed.peakBytes() / unclosed.peakBytes();
                assertTrue(share <= zoo.share(), zoo + ", batch " + batch + ": " + share);
            }
        } finally {
            resetCache.run();
        }
    }
}
