package org.djlplan.memplan.internal.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.util.Progress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.internal.config.GivenOptions;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.DelegationProvider;
import org.djlplan.memplan.spi.Option;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests what a model asks the provider for, which a test can answer at once. */
@OnEveryDjl
class ModelRewritingTest {

    private static final int PREDICTIONS = 40;

    @TempDir private Path folder;

    /** Answers the look-up with a stored choice, and a later request with a measured one. */
    private static final class FakeProvider implements DelegationProvider {

        private final Candidate stored;
        private final Candidate measured;
        private final ConcurrentLinkedQueue<String> requests = new ConcurrentLinkedQueue<>();

        FakeProvider(Candidate stored, Candidate measured) {
            this.stored = stored;
            this.measured = measured;
        }

        @Override
        public List<Option> options() {
            return List.of();
        }

        @Override
        public void check(Map<String, String> options) {}

        @Override
        public Choosing choose(
                DelegableModel model,
                Map<String, String> options,
                Optional<Progress> progress,
                Consumer<DelegationChoice> better) {
            boolean looksUp = "off".equals(options.get("delegation.profile"));
            requests.add(looksUp ? "look up" : "measure");
            if (!looksUp) {
                better.accept(new DelegationChoice(measured, Origin.MEASURED, "measured"));
            }
            return new Stored(new DelegationChoice(stored, Origin.STORED, "stored"));
        }
    }

    private record Stored(DelegationChoice first) implements DelegationProvider.Choosing {
        @Override
        public boolean isSettled() {
            return true;
        }

        @Override
        public void close() {}
    }

    private static PlanOptions options() {
        return PlanOptions.parse(GivenOptions.of(Map.of(), Map.of(), Map.of(), List.of()));
    }

    private ZooModel<NDList, NDList> load(DelegationProvider provider) throws Exception {
        Torch.threads(1);
        Path file = Torch.copy(TorchScriptModels.named("attention"), folder);
        ZooModel<NDList, NDList> model = Torch.loadStock(file);
        assertEquals(
                Optional.empty(),
                new PyTorchPlanning(options(), Optional.of(provider), Optional.empty())
                        .plan(model, Optional.empty()));
        return model;
    }

    private static void predict(ZooModel<NDList, NDList> model) throws Exception {
        ModelInputs inputs = TorchScriptModels.named("attention").inputSets().get(0);
        try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
            for (int i = 0; i < PREDICTIONS; i++) {
                assertEquals(1, Torch.predict(predictor, inputs, i).size());
            }
        }
    }

    private static DelegationReport choice(ZooModel<NDList, NDList> model) {
        return Torch.report(model).delegation().orElseThrow();
    }

    @Test
    void predict_stockIsStored_isMeasuredAgainAndRewritten() throws Exception {
        FakeProvider provider = new FakeProvider(Candidate.cpu(1), Candidate.ofRecipe("frozen", 1));
        try (ZooModel<NDList, NDList> model = load(provider)) {
            Await.until(() -> Torch.report(model).delegation().isPresent());
            assertEquals("stock", choice(model).delegate());
            Await.until(
                    () -> {
                        predict(model);
                        return choice(model).origin() == Origin.MEASURED;
                    });
            assertEquals("frozen", choice(model).delegate());
            assertEquals(List.of("look up", "measure"), List.copyOf(provider.requests));
        }
    }

    @Test
    void predict_recipeIsStored_isNotMeasuredAgain() throws Exception {
        FakeProvider provider = new FakeProvider(Candidate.ofRecipe("frozen", 1), Candidate.cpu(1));
        try (ZooModel<NDList, NDList> model = load(provider)) {
            Await.until(() -> Torch.report(model).delegation().isPresent());
            predict(model);
            assertEquals("frozen", choice(model).delegate());
            assertTrue(provider.requests.stream().allMatch("look up"::equals));
        }
    }
}
