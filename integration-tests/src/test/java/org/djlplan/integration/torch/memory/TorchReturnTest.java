package org.djlplan.integration.torch.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.integration.torch.TorchTests;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.runtime.Keeping;
import org.djlplan.memplan.internal.runtime.OutputArena;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that arenas are not much larger than necessary, and return their memory. */
class TorchReturnTest implements TorchTests {

    private static final long MIB = 1 << 20;

    /** Rounding of an arena, and the page that kernels may read behind it. */
    private static final long ROUNDING_BYTES = 2 * 4096;

    @TempDir private Path folder;

    private static long arenaBytes() {
        return ArenaPool.shared().metric().arenaBytes();
    }

    @Tag("long")
    @Test
    void predict_thenNoMore_returnsAllAfterSeconds() throws Exception {
        ModelInputs small = ModelInputs.floats(new long[] {2, 500});
        ModelInputs large = ModelInputs.floats(new long[] {2, 1000});
        try (ZooModel<NDList, NDList> model = Torch.load("wide", folder)) {
            List<Output> unused = Torch.predict(model, large, 0);
            long ofLarge = arenaBytes();
            unused = Torch.predict(model, small, 0);
            Await.until(() -> arenaBytes() <= ofLarge / 3);
            assertTrue(arenaBytes() >= 2 * MIB, "what the last one used is kept for a while");
            Await.until(() -> arenaBytes() <= ROUNDING_BYTES);
        }
    }

    /** The cache is larger in each call than any hole that earlier caches left. */
    @Test
    void predict_stateGrows_isNotInAnArena() throws Exception {
        ModelInputs row = ModelInputs.floats(new long[] {1, MIB / Float.BYTES});
        try (ZooModel<NDList, NDList> stock = TorchScriptModels.named("cache").loadStock();
                ZooModel<NDList, NDList> model = Torch.load("cache", folder);
                Predictor<NDList, NDList> plain = stock.newPredictor();
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            for (int call = 0; call < 30; call++) {
                assertEquals(Torch.predict(plain, row, call), Torch.predict(predictor, row, call));
            }
            long bytes = arenaBytes() + OutputArena.shared().bytes();
            assertTrue(bytes <= 16 * MIB, bytes + " bytes");
        }
    }

    /** Plans are followed only if recent predictions, even of other tests, did not overlap. */
    private static void forgetOverlaps() {
        try (ArenaPool.Need need = ArenaPool.shared().announceAny(Keeping.LONG)) {
            for (int i = 0; i < 64; i++) {
                need.tryLease().orElseThrow().close();
            }
        }
    }

    @Test
    void predict_firstFitLeavesHoles_followsAPlan() throws Exception {
        forgetOverlaps();
        ModelInputs row = ModelInputs.floats(new long[] {1, MIB / Float.BYTES});
        int calls = 12;
        List<List<Output>> expected =
                Torch.stock(TorchScriptModels.named("chain").file(), row, calls);
        try (ZooModel<NDList, NDList> model = Torch.load("chain", folder);
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            assertEquals(expected.get(0), Torch.predict(predictor, row, 0));
            PlanReport.Plan online = Torch.report(model).plan();
            assertEquals("first-fit", online.strategy());
            assertTrue(
                    online.arenaBytes() > 1.05 * online.lowerBoundBytes() + 4 * MIB,
                    online.toString());
            Await.until(
                    () -> {
                        assertEquals(expected.get(1), Torch.predict(predictor, row, 1));
                        PlanReport.Predictions now = Torch.report(model).predictions();
                        return now.total() > now.online();
                    });
            for (int call = 0; call < calls; call++) {
                assertEquals(expected.get(call), Torch.predict(predictor, row, call));
            }
            PlanReport report = Torch.report(model);
            assertTrue(
                    report.plan().arenaBytes() <= 1.05 * report.plan().lowerBoundBytes(),
                    report.toString());
            assertEquals(0, report.predictions().unplanned(), report.toString());
            assertEquals(1, report.predictions().recorded(), report.toString());
        }
    }

    /** Returns the chain that makes as many sums as the largest number of its input says. */
    private Path chainOfInput() throws Exception {
        Path file = Torch.copy(TorchScriptModels.named("chain"), folder);
        try (FileSystem archive = FileSystems.newFileSystem(file)) {
            Path code = archive.getPath("chain/code/__torch__/torchscript_files.py");
            Files.writeString(code, Files.readString(code).replace("24", "int(torch.max(x))"));
        }
        return file;
    }

    /** Predicts with this many sums of rows, whose mean is the row again. */
    private static void predictSums(Predictor<NDList, NDList> predictor, int sums, long length)
            throws Exception {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDArray row = manager.full(new Shape(1, length), (float) sums);
            assertEquals(row.get(0), predictor.predict(new NDList(row)).singletonOrThrow());
        }
    }

    private static void untilPlanned(Model model, Predictor<NDList, NDList> predictor, long length)
            throws Exception {
        long before = planned(model);
        Await.until(
                () -> {
                    predictSums(predictor, 24, length);
                    return planned(model) > before;
                });
    }

    private static long planned(Model model) {
        PlanReport.Predictions now = Torch.report(model).predictions();
        return now.total() - now.online() - now.unplanned();
    }

    @Test
    void predict_allocatesOtherwiseThanPlanned_isRightAndNotPlannedAgain() throws Exception {
        forgetOverlaps();
        long length = MIB / Float.BYTES;
        try (ZooModel<NDList, NDList> model = Torch.load(chainOfInput(), Map.of());
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            untilPlanned(model, predictor, length);
            for (int other = 1; other <= 64; other++) {
                predictSums(predictor, 2, other);
            }
            untilPlanned(model, predictor, length);
            assertEquals(2, Torch.report(model).predictions().recorded(), "64 kinds are kept");
            long before = planned(model);
            for (int sums : new int[] {20, 30, 24, 20, 30, 22}) {
                predictSums(predictor, sums, length);
            }
            assertEquals(before + 6, planned(model), "up to the third in a row that differs");
            predictSums(predictor, 24, length);
            assertEquals(before + 6, planned(model));
            assertEquals(0, Torch.report(model).predictions().unplanned());
        }
    }
}
