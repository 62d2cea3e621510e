package org.djlplan.integration.tflite.budget;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.engine.Engine;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.djlplan.integration.support.BudgetModels;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.config.GivenOptions;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.serving.BudgetedKernels;
import org.djlplan.memplan.internal.serving.BudgetedModel;
import org.djlplan.memplan.internal.serving.ServedDelegation;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.DelegationChoice;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests when a model with a budget is ready. */
class BudgetReadinessTest {

    @TempDir Path folder;

    /** Whether the choice of delegated operators is final. */
    private final AtomicBoolean settled = new AtomicBoolean();

    private final class Measuring implements ServedDelegation {

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
            return new DelegationChoice(Candidate.cpu(1), Origin.UNVERIFIED, "it is measured");
        }

        @Override
        public boolean isSettled() {
            return settled.get();
        }
    }

    private final class Whole implements BudgetedModel.Delegations {

        @Override
        public Optional<ServedDelegation> whole(long budgetBytes) {
            return Optional.of(new Measuring());
        }

        @Override
        public Optional<BudgetedKernels> streamed() {
            return Optional.empty();
        }
    }

    @Test
    void isSettled_servedWholeAndDelegationIsMeasured_isFalseUntilItIs() throws Exception {
        Engine.getEngine("TFLite").newBaseManager().close();
        Path file = Budgeted.copy(BudgetModels.SMALL_VGG, folder);
        PlanOptions options =
                PlanOptions.parse(
                        GivenOptions.of(
                                Map.of("memplan.budget", "1GB", "memplan.threads", 1),
                                Map.of(),
                                Map.of(),
                                List.of()));
        try (BudgetedModel model = BudgetedModel.open(file, options, folder, new Whole())) {
            assertTrue(model.report().budget().orElseThrow().isWhole());
            assertFalse(model.isSettled());
            settled.set(true);
            assertTrue(model.isSettled());
        }
    }
}
