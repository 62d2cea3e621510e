package org.djlplan.integration.torch.liveness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.torch.Torch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests random blocks of users, with state and without: each answers as in DJL, runs once per
 * prediction, and needs no more memory.
 */
@OnEveryDjlWhenLong
class RandomBlocksTest {

    private static final int BLOCKS = 100;
    private static final int PREDICTIONS = 9;

    @TempDir Path folder;
    private Runnable resetCache;

    @BeforeEach
    void oneThreadAndNoPlans() {
        Torch.threads(1);
        resetCache = Torch.useCache(folder);
    }

    @AfterEach
    void everythingIsFreed() {
        resetCache.run();
        Torch.assertNoArenas();
    }

    /** Returns inputs of two shapes; the second one comes late. */
    private static List<BlockAnswers.Inputs> inputs() {
        return IntStream.range(0, PREDICTIONS)
                .<BlockAnswers.Inputs>mapToObj(
                        call ->
                                manager -> {
                                    Shape shape = new Shape(call % 6 == 5 ? 40 : 30, 16);
                                    NDArray numbers = manager.arange(0f, (float) shape.size(), 1f);
                                    return new NDList(numbers.mul(call + 1).sin().reshape(shape));
                                })
                .toList();
    }

    private static BlockAnswers assertAsStock(long seed, List<?> expected, Map<String, ?> options)
            throws Exception {
        int before = RandomBlock.Calls.COUNT.get();
        BlockAnswers answers = BlockAnswers.planned(new RandomBlock(seed), options, inputs());
        assertEquals(expected, answers.outputs(), "seed " + seed + ", " + options);
        assertEquals(before + PREDICTIONS, RandomBlock.Calls.COUNT.get(), "seed " + seed);
        return answers;
    }

    @Test
    void predict_randomBlock_runsOnceAndAnswersAsStock() throws Exception {
        long closedBytes = 0;
        long unclosedBytes = 0;
        for (long seed = 0; seed < BLOCKS; seed++) {
            List<?> expected = BlockAnswers.stock(new RandomBlock(seed), inputs()).outputs();
            BlockAnswers auto = assertAsStock(seed, expected, Map.of());
            BlockAnswers op = assertAsStock(seed, expected, BlockAnswers.OP);
            assertTrue(auto.report().orElseThrow().unclosedReason().isPresent());
            if (new RandomBlock(seed).isStateless()) {
                assertTrue(op.report().orElseThrow().unclosedReason().isEmpty(), "seed " + seed);
                closedBytes += op.peakBytes();
                unclosedBytes += auto.peakBytes();
            }
        }
        assertTrue(closedBytes <= unclosedBytes, closedBytes + " of " + unclosedBytes);
    }
}
