package org.djlplan.integration.torch.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.djlplan.integration.contract.Threads;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModel;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.integration.torch.TorchTests;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.runtime.OutputArena;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests inputs that change shape with nearly every prediction. */
class TorchVariableShapesTest implements TorchTests {

    private static final int KEPT = 60;
    private static final int FURTHER = 1_000;
    private static final int THREADS = 4;
    private static final int EACH = 20;
    private static final int LARGE_SIDE = 400;
    private static final int KINDS = 8;
    private static final long LITTLE_BYTES = 2 << 20;

    @TempDir private Path folder;

    private static ModelInputs image(int number) {
        return ModelInputs.floats(new long[] {1, 3, 16 + number % 20, 16 + number / 20});
    }

    private static ModelInputs square(int side) {
        return ModelInputs.floats(new long[] {1, 3, side, side});
    }

    /** Outputs outlive their prediction, other outputs of the arena, and finally their model. */
    @Test
    void predict_outputsOfManyShapesAreKept_theyStayAsTheyAre() throws Exception {
        TorchScriptModel files = TorchScriptModels.named("cnn");
        List<List<Output>> expected = new ArrayList<>();
        List<NDList> kept = new ArrayList<>();
        NDManager manager = NDManager.newBaseManager("PyTorch");
        try (ZooModel<NDList, NDList> stock = files.loadStock();
                ZooModel<NDList, NDList> model = Torch.load("cnn", folder);
                Predictor<NDList, NDList> plain = stock.newPredictor();
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            for (int i = 0; i < KEPT; i++) {
                expected.add(Torch.predict(plain, image(i), i));
                kept.add(predictor.predict(image(i).create(manager, i)));
            }
            PlanReport.Predictions predictions = Torch.report(model).predictions();
            assertTrue(predictions.escaped() > 0, "the first of a structure is not expected");
            assertTrue(predictions.escaped() < KEPT / 2, predictions.toString());
            for (int i = 0; i < FURTHER; i++) {
                assertEquals(1, predictor.predict(image(i % 400).create(manager, i)).size());
            }
            assertKept(expected, kept);
            assertTrue(ArenaPool.shared().metric().arenas() <= 1);
        }
        assertKept(expected, kept);
        manager.close();
    }

    private static ModelInputs rows(int number) {
        return ModelInputs.floats(new long[] {700 + number % KEPT, 24});
    }

    /** Keeps many outputs, predicts others in between, and keeps some longer than their model. */
    @Test
    void predict_largeOutputs_theirArenaKeepsThemAndIsTrimmed() throws Exception {
        TorchScriptModel files = TorchScriptModels.named("input_as_output");
        List<List<Output>> expected = new ArrayList<>();
        List<NDList> kept = new ArrayList<>();
        NDManager manager = NDManager.newBaseManager("PyTorch");
        try (ZooModel<NDList, NDList> stock = files.loadStock();
                ZooModel<NDList, NDList> model = Torch.load("input_as_output", folder);
                Predictor<NDList, NDList> plain = stock.newPredictor();
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            for (int i = 0; i < KEPT; i++) {
                expected.add(Torch.predict(plain, rows(i), i));
                kept.add(predictor.predict(rows(i).create(manager, i)));
            }
            long many = OutputArena.shared().bytes();
            assertTrue(many > LITTLE_BYTES, many + " bytes");
            for (int i = 0; i < FURTHER; i++) {
                assertEquals(3, Torch.predict(predictor, rows(i), i).size());
            }
            assertKept(expected, kept);
            while (kept.size() > 2) {
                kept.remove(2).close();
            }
            for (int i = 0; i < 2 * KEPT; i++) {
                assertEquals(3, Torch.predict(predictor, rows(i), i).size());
            }
            long now = OutputArena.shared().bytes();
            assertTrue(now < LITTLE_BYTES, now + " bytes of " + many);
            kept.add(predictor.predict(rows(2).create(manager, 2)));
        }
        assertEquals(0, OutputArena.shared().bytes());
        assertKept(expected.subList(0, kept.size()), kept);
        manager.close();
    }

    private static void assertKept(List<List<Output>> expected, List<NDList> kept) {
        for (int i = 0; i < expected.size(); i++) {
            assertEquals(expected.get(i), Output.copyOf(kept.get(i)), "shape " + i);
        }
    }

    @Test
    void predict_largeInputsOnManyThreads_haveAnArenaForEachThatRuns() throws Exception {
        try (ZooModel<NDList, NDList> stock = TorchScriptModels.named("cnn").loadStock();
                ZooModel<NDList, NDList> model = Torch.load("cnn", folder)) {
            try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
                for (int i = 0; i < KINDS; i++) {
                    assertEquals(1, Torch.predict(predictor, image(i), i).size());
                }
                assertEquals(1, Torch.predict(predictor, square(LARGE_SIDE), 0).size());
            }
            assertEquals(1, ArenaPool.shared().metric().arenas());
            Threads.all(
                    THREADS,
                    thread -> {
                        compareLarge(stock, model, LARGE_SIDE - EACH * (thread + 1));
                        return true;
                    });
            assertTrue(
                    ArenaPool.shared().metric().arenas()
                            <= Runtime.getRuntime().availableProcessors());
        }
    }

    private static void compareLarge(
            ZooModel<NDList, NDList> stock, ZooModel<NDList, NDList> model, int first)
            throws Exception {
        Torch.threads(1);
        try (Predictor<NDList, NDList> plain = stock.newPredictor();
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = NDManager.newBaseManager("PyTorch")) {
            for (int side = first; side < first + EACH; side += 10) {
                List<Output> answer = Torch.predict(plain, square(side), side);
                try (NDList outputs = predictor.predict(square(side).create(manager, side))) {
                    assertEquals(answer, Output.copyOf(outputs), "side " + side);
                }
            }
        }
    }

    @Test
    void predict_rareLargeShape_itsMemoryIsGivenBack() throws Exception {
        try (ZooModel<NDList, NDList> model = Torch.load("cnn", folder);
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            for (int i = 0; i < 2 * KEPT; i++) {
                assertEquals(1, Torch.predict(predictor, image(i), i).size());
            }
            assertEquals(1, Torch.predict(predictor, square(LARGE_SIDE), 0).size());
            long large = ArenaPool.shared().metric().arenaBytes();
            assertTrue(large > 4 * LITTLE_BYTES, large + " bytes");
            for (int i = 0; i < 2 * KEPT; i++) {
                assertEquals(1, Torch.predict(predictor, image(i), i).size());
            }
            long now = ArenaPool.shared().metric().arenaBytes();
            assertTrue(now < LITTLE_BYTES, now + " bytes of " + large);
        }
    }
}
