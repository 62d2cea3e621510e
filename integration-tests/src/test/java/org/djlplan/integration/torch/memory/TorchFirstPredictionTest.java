package org.djlplan.integration.torch.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.torch.BlockModels;
import org.djlplan.integration.torch.BlockModels.Kind;
import org.djlplan.integration.torch.FirstPrediction;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Torch;
import org.djlplan.memplan.testing.MemoryGroup;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the first predictions of imperative models, before a plan is stored. */
@OnEveryDjlWhenLong
class TorchFirstPredictionTest {

    private static final long MIB = 1 << 20;
    private static final long GROUP_BYTES = 700 * MIB;

    /** Memory that Java's compiler and planning take for a while. */
    private static final long BESIDE_BYTES = 16 * MIB;

    /** Exit code of a process that the system kills. */
    private static final int KILLED = 137;

    private static final ModelInputs OTHER = ModelInputs.floats(new long[] {9, 6});

    @TempDir Path folder;

    private ChildJvm.Result predict(List<String> before, String way, String... arguments)
            throws Exception {
        List<String> all = new ArrayList<>(List.of(way));
        all.addAll(List.of(arguments));
        // The new cache has no plans of other tests.
        Path cache = Files.createTempDirectory(folder, "cache");
        return new ChildJvm(folder)
                .before(before)
                .options(
                        "-Xms128m",
                        "-Xmx128m",
                        "-XX:+AlwaysPreTouch",
                        "-XX:+UseSerialGC",
                        "-DDJL_CACHE_DIR=" + cache)
                .run(FirstPrediction.class, all.toArray(String[]::new));
    }

    private static List<FirstPrediction.Figures> figures(ChildJvm.Result result) {
        assertEquals(0, result.exitCode(), result.out() + result.err());
        return FirstPrediction.Figures.of(result.out());
    }

    @Test
    @Tag("long")
    void predict_imperativeInASmallGroup_fitsFromTheFirstPrediction() throws Exception {
        String[] once = {"resnet50", "4"};
        try (MemoryGroup group = MemoryGroup.of(GROUP_BYTES)) {
            List<FirstPrediction.Figures> planned =
                    figures(predict(group.inside(), "planned", "resnet50", "4", "4"));
            assertEquals(KILLED, predict(group.inside(), "stock", once).exitCode());
            assertAnswersAsStock(figures(predict(List.of(), "stock", once)), planned);
            assertSettled(planned, 0);
        }
    }

    /** Asserts that the first prediction with other shapes takes as much memory as the next one. */
    private static void assertSettled(List<FirstPrediction.Figures> planned, int first) {
        assertTrue(
                planned.get(first).peakBytes()
                        <= 1.1 * planned.get(first + 1).peakBytes() + BESIDE_BYTES,
                planned.toString());
    }

    /**
     * Asserts equal outputs. The planned model predicts twice with the inputs with which stock
     * predicts once.
     */
    private static void assertAnswersAsStock(
            List<FirstPrediction.Figures> stock, List<FirstPrediction.Figures> planned) {
        assertEquals(2 * stock.size(), planned.size());
        for (int i = 0; i < planned.size(); i++) {
            assertEquals(stock.get(i / 2).shape(), planned.get(i).shape());
            assertEquals(stock.get(i / 2).sum(), planned.get(i).sum(), planned.get(i).shape());
        }
    }

    /** Two passes compare the block's state, and the third one is recorded. */
    @Test
    @Tag("long")
    void predict_usersCompositeWithOp_needsAShareOfStockFromTheFourthOn() throws Exception {
        String[] six = {FirstPrediction.COMPOSITE, "3x96", "3x96", "3x96", "3x96", "3x96", "3x96"};
        List<FirstPrediction.Figures> stock =
                figures(predict(List.of(), "stock", FirstPrediction.COMPOSITE, "3x96"));
        List<FirstPrediction.Figures> planned = figures(predict(List.of(), "planned", six));
        for (FirstPrediction.Figures each : planned) {
            assertEquals(stock.get(0).sum(), each.sum());
        }
        for (FirstPrediction.Figures each : planned.subList(3, planned.size())) {
            assertTrue(each.peakBytes() <= .2 * stock.get(0).peakBytes(), planned + " of " + stock);
        }
    }

    @ParameterizedTest
    @EnumSource
    void predict_otherShapes_isRightInAnArena(Kind kind) throws Exception {
        Torch.threads(1);
        BlockModels.save(kind, folder);
        try (ZooModel<NDList, NDList> stock = BlockModels.loadStock(kind, folder);
                ZooModel<NDList, NDList> planned = BlockModels.load(kind, folder, Map.of())) {
            for (int i = 0; i < 4; i++) {
                assertEquals(
                        Torch.predict(stock, BlockModels.INPUTS, i),
                        Torch.predict(planned, BlockModels.INPUTS, i));
                assertEquals(Torch.predict(stock, OTHER, i), Torch.predict(planned, OTHER, i));
            }
            assertEquals(0, Torch.report(planned).predictions().unplanned());
            assertEquals(0, Torch.report(planned).predictions().unplannedAllocations());
        }
    }
}
