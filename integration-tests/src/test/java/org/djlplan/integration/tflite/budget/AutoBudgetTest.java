package org.djlplan.integration.tflite.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.djlplan.integration.support.BudgetModels;
import org.djlplan.integration.support.StreamedOnly;
import org.djlplan.integration.tflite.budget.Budgeted.Answers;
import org.djlplan.memplan.internal.config.BudgetResolver;
import org.djlplan.memplan.internal.config.GivenOptions;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.machine.MemoryRoom;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.serving.BudgetedModel;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a budget that follows the container's limit. */
class AutoBudgetTest {

    private static final long LIMIT_BYTES = 100_000_000;

    /** The bytes that stay free. */
    private static final long RESERVED_BYTES = LIMIT_BYTES / 20;

    @TempDir Path folder;

    private final AtomicLong freeBytes = new AtomicLong();
    private final AtomicLong nanos = new AtomicLong();

    private MemoryRoom room() {
        return new MemoryRoom(LIMIT_BYTES, LIMIT_BYTES - freeBytes.get(), 0);
    }

    private BudgetedModel open(Path file) throws Exception {
        return BudgetedModel.open(
                file,
                PlanOptions.parse(
                        GivenOptions.of(
                                Map.of("memplan.budget", "auto", "memplan.threads", 1),
                                Map.of(),
                                Map.of(),
                                List.of())),
                folder,
                new StreamedOnly(Optional.empty()),
                (budget, stockBytes) ->
                        new BudgetResolver(budget, stockBytes, this::room, nanos::get));
    }

    /** Leaves these bytes free in the container, and lets a second pass. */
    private void leave(long bytes) {
        freeBytes.set(bytes);
        nanos.addAndGet(2_000_000_000L);
    }

    private static List<ByteBuffer> run(BudgetedModel model, Answers answers) {
        return model.run(answers.inputs().get(0), answers.shapes()).stream()
                .map(OutputTensor::data)
                .toList();
    }

    private static BudgetReport report(BudgetedModel model) {
        return model.report().budget().orElseThrow();
    }

    @Test
    void predict_containerTooFull_keepsBudgetAndWarnsOnce() throws Exception {
        Path file = Budgeted.copy(BudgetModels.SMALL_VGG, folder);
        Answers expected = Answers.of(file, 1, 1);
        long budgetBytes = Budgeted.leastBytes(file, 1) + 2_000_000;
        long enoughBytes = budgetBytes + RESERVED_BYTES;
        leave(enoughBytes);
        try (LogCapture log = new LogCapture();
                BudgetedModel model = open(file)) {
            long before = report(model).budgetBytes();
            assertEquals(budgetBytes, before);

            leave(-20_000_000);
            for (int i = 0; i < 3; i++) {
                assertEquals(expected.outputs().get(0), run(model, expected));
                leave(-20_000_000);
            }
            assertEquals(before, report(model).budgetBytes());
            assertEquals(1, log.ours("WARN").size(), () -> log.lines().toString());
            assertTrue(
                    log.ours("WARN").get(0).contains("keeps its previous budget"),
                    log.lines().toString());

            // The bytes as before, plus those that the model itself uses.
            leave(enoughBytes);
            assertEquals(expected.outputs().get(0), run(model, expected));
            assertTrue(report(model).budgetBytes() > before, report(model).toString());
            assertFalse(report(model).isWhole());
        }
    }
}
