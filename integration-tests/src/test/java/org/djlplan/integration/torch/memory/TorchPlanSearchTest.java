package org.djlplan.integration.torch.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Block;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.training.ParameterStore;
import ai.djl.translate.NoopTranslator;
import ai.djl.util.PairList;
import com.google.common.collect.ImmutableMap;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.testing.Await;
import org.djlplan.memplan.testing.TightGraph;
import org.djlplan.memplan.testing.TightGraph.Piece;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Allocations that the strategies do not plan as small as can be: searched, kept, and used. */
@OnEveryDjl
class TorchPlanSearchTest {

    private static final ModelInputs INPUTS = ModelInputs.floats(new long[] {1});
    private static final int SEEDS = 3;

    @TempDir Path folder;
    private Runnable reset = () -> {};

    @BeforeEach
    void setUp() {
        Torch.threads(1);
        reset = Torch.useCache(folder);
    }

    @AfterEach
    void tearDown() {
        reset.run();
        Torch.assertNoArenas();
    }

    /** Makes each piece from the input, and sums it up where it ends. */
    static final class TightBlock extends AbstractBlock {

        @Override
        protected NDList forwardInternal(
                ParameterStore store,
                NDList inputs,
                boolean training,
                PairList<String, Object> params) {
            List<Piece> pieces = TightGraph.PIECES;
            NDArray[] arrays = new NDArray[pieces.size()];
            NDArray total = inputs.head().mul(2);
            for (int time = 0; time <= TightGraph.END; time++) {
                for (int i = 0; i < arrays.length; i++) {
                    if (pieces.get(i).until() == time) {
                        total = total.add(arrays[i].sum());
                        arrays[i].close();
                    }
                }
                for (int i = 0; i < arrays.length; i++) {
                    if (pieces.get(i).from() == time) {
                        Shape shape = new Shape(pieces.get(i).elements());
                        arrays[i] = inputs.head().broadcast(shape).mul(i + 1);
                    }
                }
            }
            return new NDList(total);
        }

        @Override
        public Shape[] getOutputShapes(Shape[] inputShapes) {
            return inputShapes;
        }
    }

    private static ZooModel<NDList, NDList> load(Map<String, ?> arguments) throws Exception {
        Model model = Model.newInstance("tight", "PyTorch");
        Block block = new TightBlock();
        block.initialize(model.getNDManager(), DataType.FLOAT32, new Shape(1));
        model.setBlock(block);
        Map<String, Object> all =
                ImmutableMap.<String, Object>builder()
                        .putAll(arguments)
                        .put("memplan.liveness", "off")
                        .buildOrThrow();
        return new ZooModel<>(
                model,
                new PlannedTranslatorFactory().newInstance(NDList.class, NDList.class, model, all));
    }

    private static List<Output> stock(long seed) throws Exception {
        try (Model model = Model.newInstance("tight", "PyTorch")) {
            Block block = new TightBlock();
            block.initialize(model.getNDManager(), DataType.FLOAT32, new Shape(1));
            model.setBlock(block);
            try (Predictor<NDList, NDList> predictor = model.newPredictor(new NoopTranslator())) {
                return Torch.predict(predictor, INPUTS, seed);
            }
        }
    }

    /** Predicts as often as it takes to run as planned, each time as the stock engine does. */
    private static PlanReport predicted(ZooModel<NDList, NDList> model) throws Exception {
        for (int seed = 0; seed < SEEDS; seed++) {
            assertEquals(stock(seed), Torch.predict(model, INPUTS, seed));
        }
        return Torch.report(model);
    }

    private static PlanReport run(String search) throws Exception {
        try (ZooModel<NDList, NDList> model = load(Map.of("memplan.search", search))) {
            return predicted(model);
        }
    }

    private static void assertNotSearched(PlanReport report) {
        assertNotEquals("exact-search", report.plan().strategy());
        assertTrue(
                report.plan().arenaBytes() > 1.02 * report.plan().lowerBoundBytes(),
                report.toString());
    }

    private static void assertSearched(PlanReport report) {
        assertEquals("exact-search", report.plan().strategy());
        assertTrue(
                report.plan().arenaBytes() < 1.01 * report.plan().lowerBoundBytes(),
                report.toString());
    }

    private String kept() throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            List<Path> plans =
                    files.filter(file -> file.getFileName().toString().endsWith(".json")).toList();
            return plans.isEmpty() ? "" : Files.readString(plans.get(0));
        }
    }

    @Test
    void predict_background_usesThePlanFromTheNextLoadOn() throws Exception {
        // The default.
        try (ZooModel<NDList, NDList> model = load(Map.of())) {
            assertNotSearched(predicted(model));
            Await.until(() -> kept().contains("exact-search"));
            assertNotSearched(predicted(model));
        }
        String kept = kept();
        PlanReport report = run("background");
        assertSearched(report);
        assertEquals(0, report.predictions().recorded());
        assertEquals(kept, kept(), "it is not searched again");
    }

    @Test
    void predict_duration_usesThePlanFromTheSecondPredictionOn() throws Exception {
        assertSearched(run("30s"));
        assertTrue(kept().contains("exact-search"));
        assertSearched(run("1ms"));
    }

    @Test
    void predict_off_neitherSearchesNorUsesWhatIsKept() throws Exception {
        assertNotSearched(run("off"));
        assertFalse(kept().contains("exact-search"));
        assertSearched(run("30s"));
        PlanReport report = run("off");
        assertNotSearched(report);
        assertEquals(0, report.predictions().recorded());
    }
}
