package org.djlplan.integration.tflite.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.djlplan.integration.networks.OddModels;
import org.djlplan.integration.support.BudgetModels;
import org.djlplan.integration.support.StreamedOnly;
import org.djlplan.integration.tflite.budget.Budgeted.Answers;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.config.Budget;
import org.djlplan.memplan.internal.config.BudgetResolver;
import org.djlplan.memplan.internal.config.GivenOptions;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.machine.MemoryRoom;
import org.djlplan.memplan.internal.plan.MemoryPlanner;
import org.djlplan.memplan.internal.runtime.MappedFile;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.serving.BudgetedKernels;
import org.djlplan.memplan.internal.serving.BudgetedModel;
import org.djlplan.memplan.internal.serving.ServedDelegation;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.UnusableOptionException;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a model whose budget follows the container's limit, or has room for the whole model. */
class BudgetedModelTest {

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

    /** Leaves these bytes free in the container, and lets a second pass. */
    private void leave(long bytes) {
        freeBytes.set(bytes);
        nanos.addAndGet(2_000_000_000L);
    }

    @Test
    void predict_containerTooFull_keepsBudgetAndWarnsOnce() throws Exception {
        long budgetBytes = Budgeted.leastBytes(file, 1) + 2_000_000;
        long enoughBytes = budgetBytes + CONTAINER_BYTES / 20;
        leave(enoughBytes);
        try (LogCapture log = new LogCapture();
                BudgetedModel model = open("auto", new StreamedOnly(Optional.empty()))) {
            assertEquals(budgetBytes, report(model).budgetBytes());
            for (int i = 0; i < 3; i++) {
                leave(-20_000_000);
                assertAnswers(model);
            }
            assertEquals(budgetBytes, report(model).budgetBytes());
            assertEquals(1, log.ours("WARN").size(), () -> log.lines().toString());
            assertTrue(log.ours("WARN").get(0).contains("keeps its previous budget"));
            // The bytes as before, plus those that the model itself uses.
            leave(enoughBytes);
            assertAnswers(model);
            assertTrue(report(model).budgetBytes() > budgetBytes, report(model).toString());
            assertFalse(report(model).isWhole());
        }
    }

    private void assertAnswers(BudgetedModel model) {
        assertAnswers(model, 0);
    }

    private void assertAnswers(BudgetedModel model, int number) {
        List<ByteBuffer> outputs =
                model.run(expected.inputs().get(number), expected.shapes()).stream()
                        .map(OutputTensor::data)
                        .toList();
        assertEquals(expected.outputs().get(number), outputs);
    }

    private static BudgetReport report(BudgetedModel model) {
        return model.report().budget().orElseThrow();
    }

    /** Fails as {@code delegation.onMissing=fail} does. */
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
                leave(CONTAINER_BYTES / 2);
                assertAnswers(model);
            }
            assertFalse(report(model).isWhole());
            assertEquals(1, log.ours("WARN").size(), () -> log.lines().toString());
            assertTrue(
                    log.ours("WARN").get(0).endsWith("previous budget: nothing is stored"),
                    log.lines().toString());
        }
    }

    /** Delegates nothing, and records the limits that it was given. */
    private record Listing(List<Long> limits, ServedDelegation delegation)
            implements BudgetedModel.Delegations {

        Listing(List<Long> limits) {
            this(limits, new InCpuKernels());
        }

        @Override
        public Optional<ServedDelegation> whole(long budgetBytes) {
            limits.add(budgetBytes);
            return Optional.of(delegation);
        }

        @Override
        public Optional<BudgetedKernels> streamed() {
            return Optional.empty();
        }
    }

    private static class InCpuKernels implements ServedDelegation {

        @Override
        public String name() {
            return Delegates.XNNPACK;
        }

        @Override
        public String engine() {
            return "an engine";
        }

        @Override
        public DelegateFactory delegates() {
            return Delegates.named(Delegates.XNNPACK);
        }

        @Override
        public DelegationChoice first(Graph graph, String identity) {
            return new DelegationChoice(Candidate.cpu(1), Origin.STORED, "it is so");
        }
    }

    @Test
    void isSettled_servedWholeAndDelegationIsMeasured_isFalseUntilItIs() throws Exception {
        AtomicBoolean settled = new AtomicBoolean();
        ServedDelegation measuring =
                new InCpuKernels() {
                    @Override
                    public boolean isSettled() {
                        return settled.get();
                    }
                };
        try (BudgetedModel model = open("1GB", new Listing(new ArrayList<>(), measuring))) {
            assertTrue(report(model).isWhole());
            assertFalse(model.isSettled());
            settled.set(true);
            assertTrue(model.isSettled());
        }
    }

    @Test
    void setBudget_lessButRoomForAll_choosesAgainWithinIt() throws Exception {
        List<Long> limits = new ArrayList<>();
        long twice = 2 * Files.size(file);
        try (BudgetedModel model = open("1GB", new Listing(limits))) {
            for (long budget : List.of(twice + 2, twice + 3, twice, twice)) {
                model.setBudget(new Budget.Bytes(budget));
                assertAnswers(model);
                assertTrue(report(model).isWhole());
                assertEquals(budget, report(model).budgetBytes());
            }
        }
        assertEquals(List.of(1_000_000_000L, twice + 2, twice), limits);
    }

    /** This must hold however much memory a delegate takes. */
    @Test
    void setBudget_lessButMoreThanDelegatesTake_keepsTheInterpreter() throws Exception {
        List<Long> limits = new ArrayList<>();
        try (BudgetedModel model = open("1GB", new Listing(limits))) {
            model.setBudget(new Budget.Bytes(900_000_000));
            assertAnswers(model);
        }
        assertEquals(List.of(1_000_000_000L), limits);
    }

    /** Another interpreter would not have the model's state. */
    @Test
    void setBudget_lessAndStateful_keepsTheInterpreter() throws Exception {
        TfLiteWriter.write(OddModels.stateful(), file);
        expected = Answers.of(file, 1, 3);
        List<Long> limits = new ArrayList<>();
        try (BudgetedModel model = open("1GB", new Listing(limits))) {
            for (int i = 0; i < 3; i++) {
                model.setBudget(new Budget.Bytes(900_000_000 - i));
                assertAnswers(model, i);
            }
        }
        assertEquals(List.of(1_000_000_000L), limits);
    }

    @Test
    void open_delegationCannotBeAttached_freesEverything() {
        ServedDelegation failing =
                new InCpuKernels() {
                    @Override
                    public void attach(ServedModel model) {
                        throw new IllegalStateException("no thread");
                    }
                };
        int before = MappedFile.openCount();
        assertThrows(
                IllegalStateException.class,
                () ->
                        ServedModel.open(
                                file,
                                PlanOptions.parse(
                                        GivenOptions.of(Map.of(), Map.of(), Map.of(), List.of())),
                                MemoryPlanner::plan,
                                Optional.of(failing)));
        assertEquals(before, MappedFile.openCount());
    }
}
