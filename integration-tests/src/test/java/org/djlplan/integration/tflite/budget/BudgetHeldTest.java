package org.djlplan.integration.tflite.budget;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.djlplan.integration.budget.Contestant;
import org.djlplan.integration.budget.ContestantProcess;
import org.djlplan.integration.support.BudgetModels;
import org.djlplan.integration.support.OnEveryDjl;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests that a process keeps its budget. Peak memory is measured from outside and includes pages of
 * files. The peak of a process that has run small models in the same way is subtracted.
 */
@OnEveryDjl
@Tag("long")
class BudgetHeldTest {

    private static final double TOLERANCE = 1.05;

    /** The stock engine's outputs by network and threads, computed once. */
    private static final Map<String, byte[]> EXPECTED = new HashMap<>();

    @TempDir Path folder;

    @ParameterizedTest(name = "{0}, {1} threads, {2}, {3} bytes, {4} at once")
    @CsvSource({
        "SMALL_VGG, 1, mmap, 22000000, 1",
        "SMALL_VGG, 1, direct, 19000000, 1",
        "SMALL_VGG, 2, direct, 24000000, 1",
        "SMALL_VGG, 2, mmap, 24000000, 4",
        "SMALL_RESNET, 1, direct, 20000000, 1",
        "SMALL_RESNET, 2, mmap, 25000000, 4",
        "SMALL_VGG_F16, 1, mmap, 20000000, 1"
    })
    void peak_overLoadAndPredictions_isWithinTheBudget(
            BudgetModels network, int threads, String io, long budgetBytes, int atOnce)
            throws Exception {
        Path file = Budgeted.copy(network, folder);
        Contestant contestant = Contestant.budget(budgetBytes, io, threads);
        String key = network + ", " + threads;
        if (!EXPECTED.containsKey(key)) {
            EXPECTED.put(key, outputs(Contestant.stock(threads), file));
        }
        byte[] expected = EXPECTED.get(key);
        // Slicing, calibrating and other preparations are done once.
        assertArrayEquals(expected, outputs(contestant, file));
        try (ContestantProcess process =
                ContestantProcess.start(contestant, file, folder, Optional.empty())) {
            process.resetPeak();
            assertTrue(process.loadNanos(file) > 0);
            long loadBytes = process.peakAboveIdleBytes();
            process.resetPeak();
            assertEquals(10 * atOnce, process.predictNanos(10, atOnce).length);
            long predictBytes = process.peakAboveIdleBytes();
            assertArrayEquals(expected, process.outputs(1));
            double most = budgetBytes * TOLERANCE;
            String figures = loadBytes + " to load, " + predictBytes + " to predict";
            assertTrue(loadBytes <= most && predictBytes <= most, figures);
        }
    }

    private byte[] outputs(Contestant contestant, Path file) throws Exception {
        try (ContestantProcess process =
                ContestantProcess.start(contestant, file, folder, Optional.empty())) {
            assertTrue(process.loadNanos(file) > 0);
            return process.outputs(1);
        }
    }
}
