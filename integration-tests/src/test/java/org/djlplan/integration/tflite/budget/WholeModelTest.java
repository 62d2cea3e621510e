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
import org.djlplan.integration.tflite.budget.Budgeted.Answers;
import org.djlplan.memplan.internal.config.BudgetResolver;
import org.djlplan.memplan.internal.config.GivenOptions;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.machine.MemoryRoom;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.serving.BudgetedKernels;
import org.djlplan.memplan.internal.serving.BudgetedModel;
import org.djlplan.memplan.internal.serving.ServedDelegation;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.spi.UnusableOptionException;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the delegation of a model that its budget has room for. */
class WholeModelTest {

    private static final long CONTAINER_BYTES = 10_000_000_000L;

    @TempDir Path folder;

    private final AtomicLong freeBytes = new AtomicLong();
    private final AtomicLong nanos = new AtomicLong();
    private Path file;
    private Answers expected;

    @BeforeEach
    void writeModel() throws Exception {
        file = Budgeted.copy(BudgetModels.SMALL_VGG, folder);
        expected = Answers.of(file, 1, 1);
    }

    private BudgetedModel open(String budget, BudgetedModel.Delegations delegations)
            throws Exception {
        return BudgetedModel.open(
                file,
                PlanOptions.parse(
                        GivenOptions.of(
                                Map.of("memplan.budget", budget, "memplan.threads", 1),
                                Map.of(),
                                Map.of(),
                                List.of())),
                folder,
                delegations,
                (wanted, stockBytes) ->
                        new BudgetResolver(
                                wanted,
                                stockBytes,
                                () ->
                                        new MemoryRoom(
                                                CONTAINER_BYTES,
                                                CONTAINER_BYTES - freeBytes.get(),
                                                0),
                                nanos::get));
    }

    private void assertAnswers(BudgetedModel model) {
        List<ByteBuffer> outputs =
                model.run(expected.inputs().get(0), expected.shapes()).stream()
                        .map(OutputTensor::data)
                        .toList();
        assertEquals(expected.outputs().get(0), outputs);
    }

    private static BudgetReport report(BudgetedModel model) {
        return model.report().budget().orElseThrow();
    }

    /** As with {@code delegation.onMissing=fail}. */
    private static final class Failing implements BudgetedModel.Delegations {

        @Override
        public Optional<ServedDelegation> whole(long budgetBytes) {
            throw new UnusableOptionException("nothing is stored");
        }

        @Override
        public Optional<BudgetedKernels> streamed() {
            return Optional.empty();
        }
    }

    @Test
    void predict_moreRoomButDelegationFails_keepsBudgetWithOneWarning() throws Exception {
        freeBytes.set(Budgeted.leastBytes(file, 1) + 1_000_000 + CONTAINER_BYTES / 20);
        try (LogCapture log = new LogCapture();
                BudgetedModel model = open("auto", new Failing())) {
            assertFalse(report(model).isWhole());
            for (int i = 0; i < 3; i++) {
                freeBytes.set(CONTAINER_BYTES / 2);
                nanos.addAndGet(2_000_000_000L);
                assertAnswers(model);
            }
            assertFalse(report(model).isWhole());
            assertEquals(1, log.ours("WARN").size(), () -> log.lines().toString());
            assertTrue(
                    log.ours("WARN").get(0).endsWith("previous budget: nothing is stored"),
                    log.lines().toString());
        }
    }
}
