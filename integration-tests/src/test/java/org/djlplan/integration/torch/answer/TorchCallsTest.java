package org.djlplan.integration.torch.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.Batchifier;
import ai.djl.translate.NoBatchifyTranslator;
import ai.djl.translate.TranslateException;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorContext;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.torch.BareTranslator;
import org.djlplan.integration.torch.InsideTranslator;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.integration.torch.TorchTests;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the ways to call a predictor. */
@OnEveryDjl
class TorchCallsTest implements TorchTests {

    private static final ModelInputs IMAGES = TorchScriptModels.named("cnn").inputSets().get(0);
    private static final ModelInputs IMAGE = ModelInputs.floats(new long[] {3, 32, 32});
    private static final int ROUNDS = 4;

    @TempDir Path folder;

    private Path file(String name) throws Exception {
        return Torch.copy(TorchScriptModels.named(name), folder);
    }

    /** Lets DJL stack the inputs and split the outputs, on request. */
    private record Stacking(boolean stack) implements Translator<NDList, NDList> {

        @Override
        public NDList processInput(TranslatorContext context, NDList inputs) {
            return inputs;
        }

        @Override
        public NDList processOutput(TranslatorContext context, NDList outputs) {
            return outputs;
        }

        @Override
        public Batchifier getBatchifier() {
            return stack ? Batchifier.STACK : null;
        }
    }

    private static List<List<Output>> batches(
            Predictor<NDList, NDList> predictor, ModelInputs each, int rounds)
            throws TranslateException {
        List<List<Output>> answers = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
                List<NDList> inputs = new ArrayList<>();
                for (int i = 0; i < 3; i++) {
                    inputs.add(each.create(manager, 10L * round + i));
                }
                // The outputs are compared when the whole batch is complete.
                predictor.batchPredict(inputs).forEach(list -> answers.add(Output.copyOf(list)));
            }
        }
        return answers;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void batchPredict_three_isRight(boolean stack) throws Exception {
        Path file = file("cnn");
        Stacking translator = new Stacking(stack);
        ModelInputs each = stack ? IMAGE : IMAGES;
        try (ZooModel<NDList, NDList> stock = Torch.loadStock(file);
                ZooModel<NDList, NDList> planned =
                        Torch.load(
                                file,
                                NDList.class,
                                Map.of(),
                                PlannedTranslatorFactory.wrap(translator)
                                        .with("delegation.enabled", false));
                Predictor<NDList, NDList> predictor = planned.newPredictor();
                Predictor<NDList, NDList> stockPredictor = stock.newPredictor(translator)) {
            List<List<Output>> expected = batches(stockPredictor, each, ROUNDS);
            assertEquals(expected, batches(predictor, each, ROUNDS));
            PlanReport report = Torch.report(planned);
            long perRound = stack ? 1 : 3;
            assertEquals(ROUNDS * perRound, report.predictions().total());
            assertTrue(report.predictions().unplanned() < ROUNDS * perRound, report.toString());
            assertEquals(
                    report.predictions().total(), report.predictions().online(), report.toString());
            assertEquals(0, report.predictions().unplannedAllocations());
        }
    }

    /** The arrays of the first call of each batch do not leave it; with three calls they meet. */
    @Test
    void batchPredict_outputsOfTheCallMeet_keepTheirBytes() throws Exception {
        try (ZooModel<NDList, String> model =
                        Torch.load(
                                file("tuple_outputs"),
                                String.class,
                                Map.of(),
                                PlannedTranslatorFactory.wrap(new InsideTranslator())
                                        .with("delegation.enabled", false));
                Predictor<NDList, String> inside = model.newPredictor();
                NDManager manager = NDManager.newBaseManager("PyTorch")) {
            List<String> expected = new ArrayList<>();
            for (int seed = 0; seed < 3; seed++) {
                expected.add(inside.predict(IMAGES.create(manager, seed)));
            }
            for (int round = 0; round < ROUNDS; round++) {
                List<NDList> inputs = new ArrayList<>();
                for (int seed = 0; seed < 3; seed++) {
                    inputs.add(IMAGES.create(manager, seed));
                }
                assertEquals(expected, inside.batchPredict(inputs));
            }
            assertEquals(0, Torch.report(model).predictions().unplannedAllocations());
        }
    }

    /** Predicts with another model inside its own pre- and post-processing. */
    private record Nesting(Predictor<NDList, NDList> other)
            implements NoBatchifyTranslator<NDList, String> {

        @Override
        public NDList processInput(TranslatorContext context, NDList inputs) throws Exception {
            NDList unused = other.predict(inputs);
            return inputs;
        }

        @Override
        public String processOutput(TranslatorContext context, NDList outputs) throws Exception {
            NDManager manager = context.getNDManager();
            NDList first = other.predict(IMAGES.create(manager, 7));
            NDList second = other.predict(new NDList(outputs.head().get(":1, :3, :, :")));
            return Output.copyOf(outputs) + " " + Output.copyOf(first) + Output.copyOf(second);
        }
    }

    private static List<String> nested(
            ZooModel<NDList, NDList> outer, ZooModel<NDList, NDList> inner, boolean planned)
            throws Exception {
        try (Predictor<NDList, NDList> other = inner.newPredictor();
                NDManager manager = NDManager.newBaseManager("PyTorch")) {
            Translator<NDList, String> translator = new Nesting(other);
            if (planned) {
                translator =
                        PlannedTranslatorFactory.wrap(translator)
                                .with("delegation.enabled", false)
                                .newInstance(NDList.class, String.class, outer, Map.of());
            }
            try (Predictor<NDList, String> predictor = outer.newPredictor(translator)) {
                List<String> answers = new ArrayList<>();
                for (int seed = 0; seed < 6; seed++) {
                    answers.add(predictor.predict(IMAGES.create(manager, seed)));
                }
                return answers;
            }
        }
    }

    @Test
    void predict_translatorAsksOtherAndSameModel_isRight() throws Exception {
        Path outerFile = file("tuple_outputs");
        Path innerFile = file("cnn");
        try (ZooModel<NDList, NDList> stock = Torch.loadStock(outerFile);
                ZooModel<NDList, NDList> stockInner = Torch.loadStock(innerFile);
                ZooModel<NDList, NDList> planned = Torch.load(outerFile, Map.of());
                ZooModel<NDList, NDList> plannedInner = Torch.load(innerFile, Map.of())) {
            assertEquals(nested(stock, stockInner, false), nested(planned, plannedInner, true));
            assertEquals(0, Torch.report(planned).predictions().unplanned());
            assertEquals(0, Torch.report(planned).predictions().unplannedAllocations());
            assertEquals(0, Torch.report(plannedInner).predictions().unplannedAllocations());
        }
    }

    @Test
    void newPredictor_translatorOfTheCallersAndCopiedParameters_isRight() throws Exception {
        Path file = file("cnn");
        List<List<Output>> expected = Torch.stock(file, IMAGES, ROUNDS);
        Device cpu = Device.cpu();
        try (ZooModel<NDList, NDList> model = Torch.load(file, Map.of());
                Predictor<NDList, NDList> other = model.newPredictor(new BareTranslator());
                Predictor<NDList, NDList> device = model.newPredictor(new BareTranslator(), cpu);
                Predictor<NDList, NDList> copying =
                        new Predictor<>(model, new BareTranslator(), cpu, true)) {
            for (int seed = 0; seed < ROUNDS; seed++) {
                assertEquals(expected.get(seed), Torch.predict(other, IMAGES, seed));
                assertEquals(expected.get(seed), Torch.predict(device, IMAGES, seed));
                assertEquals(expected.get(seed), Torch.predict(copying, IMAGES, seed));
            }
            assertEquals(0, Torch.report(model).predictions().unplanned());
        }
    }
}
