package org.djlplan.integration.torch.budget;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.djlplan.integration.budget.Contestant;
import org.djlplan.integration.budget.ContestantProcess;
import org.djlplan.integration.support.NeedsModels;
import org.djlplan.integration.support.RealModels;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests that a process keeps its budget while it loads a large model, at the first prediction
 * without stored data, and at later predictions. Its peak memory is measured from outside,
 * including pages of files.
 */
@Tag("long")
@NeedsModels(RealModels.LARGE_TORCHSCRIPT)
class TorchBudgetHeldTest {

    private static final double TOLERANCE = 1.05;
    private static final long SEED = 3;

    @TempDir Path folder;

    @ParameterizedTest(name = "{0}, {1} threads, {2}, {3} bytes, {4} at once")
    @CsvSource({
        "resnet152, 1, mmap, 96000000, 1, true",
        "resnet152, 2, direct, 96000000, 3, true",
        "vgg19, 1, mmap, 128000000, 1, false",
        "vgg19, 2, direct, 128000000, 1, false",
        "bert_base, 1, mmap, 128000000, 1, true",
        "bert_base, 2, direct, 128000000, 2, true"
    })
    void peak_fromTheLoadOn_isWithinTheBudget(
            String name, int threads, String io, long budgetBytes, int atOnce, boolean same)
            throws Exception {
        Path file =
                Files.createLink(
                        Files.createDirectory(folder.resolve("model")).resolve(name + ".pt"),
                        RealModels.LARGE_TORCHSCRIPT.file(name));
        List<Long> peaks = new ArrayList<>();
        try (ContestantProcess process = start(Contestant.budget(budgetBytes, io, threads), file)) {
            process.resetPeak();
            assertTrue(process.loadNanos(file) > 0);
            peaks.add(process.peakAboveIdleBytes());
            // The first prediction is recorded; later ones follow the plan.
            for (int count : new int[] {1, 1, 2}) {
                process.resetPeak();
                assertEquals(count * atOnce, process.predictNanos(count, atOnce).length);
                peaks.add(process.peakAboveIdleBytes());
            }
            byte[] actual = process.outputs(SEED);
            if (same) {
                assertArrayEquals(stockOutputs(threads, file), actual);
            }
            String figures = peaks + "\n" + process.report();
            peaks.forEach(peak -> assertTrue(peak <= budgetBytes * TOLERANCE, figures));
        }
    }

    private byte[] stockOutputs(int threads, Path file) throws Exception {
        try (ContestantProcess stock = start(Contestant.stock(threads), file)) {
            assertTrue(stock.loadNanos(file) > 0);
            return stock.outputs(SEED);
        }
    }

    private ContestantProcess start(Contestant contestant, Path file) throws Exception {
        return ContestantProcess.start(contestant, file, folder, Optional.empty());
    }
}
