package org.djlplan.integration.torch.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoBatchifyTranslator;
import ai.djl.translate.TranslatorContext;
import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.djlplan.integration.torch.BareTranslator;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that closing frees resources: in any order, twice, and at unusual times. */
class TorchLifecycleTest {

    private static final ModelInputs IMAGES = TorchScriptModels.named("cnn").inputSets().get(0);

    @TempDir Path folder;

    @BeforeEach
    void oneThread() {
        Torch.threads(1);
    }

    @AfterEach
    void everythingIsFreed() {
        Torch.assertNoArenas();
    }

    @Test
    void close_everythingInAnyOrderAndTwice_frees() throws Exception {
        List<Output> expected =
                Torch.stock(TorchScriptModels.named("cnn").file(), IMAGES, 1).get(0);
        for (int order = 0; order < 12; order++) {
            ZooModel<NDList, NDList> model = Torch.load("cnn", folder);
            Predictor<NDList, NDList> one = model.newPredictor();
            Predictor<NDList, NDList> other = model.newPredictor(new BareTranslator());
            NDManager manager = NDManager.newBaseManager("PyTorch");
            List<AutoCloseable> all = new ArrayList<>(List.of(model, one, other, manager));
            for (int i = 0; i < 3; i++) {
                NDList retained = one.predict(IMAGES.create(manager, 0));
                assertEquals(expected, Output.copyOf(retained));
                all.add(retained);
                all.add(other.predict(IMAGES.create(manager, 0)));
            }
            Collections.shuffle(all, new Random(order));
            for (AutoCloseable each : all) {
                each.close();
            }
            Collections.reverse(all);
            for (AutoCloseable each : all) {
                each.close();
            }
            Torch.assertNoArenas();
        }
    }

    @Test
    void close_predictorEarly_leavesOutputsAndModel() throws Exception {
        List<Output> expected =
                Torch.stock(TorchScriptModels.named("cnn").file(), IMAGES, 1).get(0);
        try (ZooModel<NDList, NDList> model = Torch.load("cnn", folder);
                NDManager manager = NDManager.newBaseManager("PyTorch")) {
            List<NDList> retained = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
                    retained.add(predictor.predict(IMAGES.create(manager, 0)));
                }
            }
            retained.forEach(outputs -> assertEquals(expected, Output.copyOf(outputs)));
            assertEquals(0, Torch.report(model).predictions().unplanned());
        }
    }

    /** Returns the outcome of a call: the kind of exception, or that it works. */
    private static String outcome(Predictor<NDList, NDList> predictor) {
        try {
            return "works: " + Torch.predict(predictor, IMAGES, 1);
        } catch (Exception e) {
            return e.getClass() + " caused by " + e.getCause();
        }
    }

    @Test
    void predict_afterClose_behavesAsStock() throws Exception {
        Path file = Torch.copy(TorchScriptModels.named("cnn"), folder);
        ZooModel<NDList, NDList> planned = Torch.load(file, Map.of());
        ZooModel<NDList, NDList> stock = Torch.loadStock(file);
        Predictor<NDList, NDList> predictor = planned.newPredictor();
        Predictor<NDList, NDList> stockPredictor = stock.newPredictor();
        assertEquals(outcome(stockPredictor), outcome(predictor));
        predictor.close();
        stockPredictor.close();
        assertEquals(outcome(stockPredictor), outcome(predictor));
        planned.close();
        stock.close();
        assertEquals(outcome(stockPredictor), outcome(predictor));
        Torch.assertNoArenas();
    }

    /** Closes its model before the call has ended. */
    private static final class ClosingTranslator implements NoBatchifyTranslator<NDList, NDList> {

        private boolean closing;

        @Override
        public NDList processInput(TranslatorContext context, NDList inputs) {
            return inputs;
        }

        @Override
        public NDList processOutput(TranslatorContext context, NDList outputs) {
            if (closing) {
                context.getModel().close();
                context.getModel().close();
            }
            return outputs;
        }
    }

    @Test
    void close_modelInsideOfAPrediction_leavesItsOutput() throws Exception {
        Path file = Torch.copy(TorchScriptModels.named("cnn"), folder);
        List<Output> expected = Torch.stock(file, IMAGES, 1).get(0);
        for (int earlier = 0; earlier < 3; earlier++) {
            ClosingTranslator translator = new ClosingTranslator();
            ZooModel<NDList, NDList> model =
                    Torch.load(
                            Torch.copy(file, folder),
                            NDList.class,
                            Map.of(),
                            PlannedTranslatorFactory.wrap(translator));
            Predictor<NDList, NDList> predictor = model.newPredictor();
            for (int i = 0; i < earlier; i++) {
                assertEquals(expected, Torch.predict(predictor, IMAGES, 0));
            }
            translator.closing = true;
            assertEquals(expected, Torch.predict(predictor, IMAGES, 0));
            predictor.close();
            Torch.assertNoArenas();
        }
    }

    private WeakReference<Block> loadedAndClosed() throws Exception {
        try (ZooModel<NDList, NDList> model = Torch.load("cnn", folder)) {
            return new WeakReference<>(model.getBlock());
        }
    }

    @Test
    void close_withoutAPrediction_blockIsCollected() throws Exception {
        WeakReference<Block> block = loadedAndClosed();
        Await.until(
                () -> {
                    System.gc();
                    return block.refersTo(null);
                });
    }

    @Test
    void load_manyTimes_keepsNoArena() throws Exception {
        Path file = Torch.copy(TorchScriptModels.named("cnn"), folder);
        List<Output> expected = Torch.stock(file, IMAGES, 1).get(0);
        for (int i = 0; i < 30; i++) {
            try (ZooModel<NDList, NDList> model = Torch.load(file, Map.of())) {
                assertEquals(expected, Torch.predict(model, IMAGES, 0));
                assertTrue(ArenaPool.shared().metric().arenas() <= 1);
            }
        }
    }
}
