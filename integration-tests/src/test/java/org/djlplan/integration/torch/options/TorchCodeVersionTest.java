package org.djlplan.integration.torch.options;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.djlplan.integration.torch.BlockModels;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.liveness.Compiled;
import org.djlplan.memplan.internal.runtime.torch.TorchMemory;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the stored data of an imperative model after the class of its block has changed. */
class TorchCodeVersionTest {

    private static final int PREDICTIONS = 4;
    private static final Shape SHAPE = BlockModels.INPUT_SHAPE;

    /**
     * Source of a block; all its versions have the same structure and make the same allocations.
     */
    private static final String SOURCE =
            """
            public class Versioned extends ai.djl.nn.AbstractBlock {
                @Override
                protected ai.djl.ndarray.NDList forwardInternal(
                        ai.djl.training.ParameterStore store,
                        ai.djl.ndarray.NDList inputs,
                        boolean training,
                        ai.djl.util.PairList<String, Object> params) {
                    ai.djl.ndarray.NDArray x = inputs.head().mul(FACTOR).add(1).square();
                    return new ai.djl.ndarray.NDList(x.add(2).square());
                }
                @Override
                public ai.djl.ndarray.types.Shape[] getOutputShapes(
                        ai.djl.ndarray.types.Shape[] inputs) {
                    return inputs;
                }
            }
            """;

    @TempDir Path folder;

    @BeforeEach
    void saveModel() throws Exception {
        Torch.threads(1);
        BlockModels.save(version(2), folder);
    }

    @AfterEach
    void everythingIsFreed() {
        Torch.assertNoArenas();
    }

    /** Returns the block of a version, in a class loader of its own. */
    private static Block version(int factor) throws Exception {
        String source = SOURCE.replace("FACTOR", Integer.toString(factor));
        return (Block) Compiled.load("Versioned", source).getDeclaredConstructor().newInstance();
    }

    /** Loads the model with a version of its block, predicts, and returns the report. */
    private PlanReport assertPredicts(int factor) throws Exception {
        try (ZooModel<NDList, NDList> model = BlockModels.load(version(factor), folder, Map.of());
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = NDManager.newBaseManager("PyTorch")) {
            for (int call = 0; call < PREDICTIONS; call++) {
                NDList outputs = predictor.predict(new NDList(manager.ones(SHAPE).mul(call)));
                double inner = Math.pow(factor * call + 1, 2) + 2;
                for (float value : outputs.head().toFloatArray()) {
                    assertEquals(inner * inner, value);
                }
                outputs.close();
                TorchMemory.settle();
            }
            return Torch.report(model);
        }
    }

    private long kept() throws Exception {
        try (Stream<Path> files = Files.list(folder.resolve(".djlplan"))) {
            return files.filter(file -> file.toString().endsWith(".json")).count();
        }
    }

    @Test
    void load_newVersionOfTheClass_findsNothingOfTheOldOne() throws Exception {
        PlanReport first = assertPredicts(2);
        assertTrue(first.planned());
        assertEquals(1, first.predictions().recorded());
        // One prediction records the arrays' last uses, another one the allocations that follow
        // from them.
        assertEquals(2, first.predictions().unplanned());
        long ofOne = kept();
        assertFound(assertPredicts(2));

        PlanReport second = assertPredicts(3);
        assertEquals(1, second.predictions().recorded());
        assertEquals(2, second.predictions().unplanned());
        assertEquals(2 * ofOne, kept());

        assertFound(assertPredicts(2));
        assertFound(assertPredicts(3));
        assertEquals(2 * ofOne, kept());
    }

    /**
     * Asserts that plan and liveness were found: nothing is recorded, and even the first prediction
     * is planned.
     */
    private static void assertFound(PlanReport report) {
        assertEquals(0, report.predictions().recorded());
        assertEquals(0, report.predictions().unplanned());
        assertEquals(0, report.predictions().unplannedAllocations());
    }
}
