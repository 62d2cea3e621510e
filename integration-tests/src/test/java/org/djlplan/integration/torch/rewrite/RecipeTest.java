package org.djlplan.integration.torch.rewrite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.engine.EngineException;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.nn.Block;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.training.ParameterStore;
import java.util.List;
import java.util.stream.Stream;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModel;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.internal.rewrite.Recipe;
import org.djlplan.memplan.internal.rewrite.TorchScriptBlock;
import org.djlplan.memplan.internal.runtime.torch.ModuleRewriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests each recipe on small models, in this process. */
@OnEveryDjl
class RecipeTest {

    private static final int RUNS = 4;
    private static final double TOLERANCE = 1e-5;

    static Stream<Arguments> modelsAndRecipes() {
        return TorchScriptModels.stateless().stream()
                .flatMap(model -> Recipe.all().stream().map(each -> Arguments.of(model, each)));
    }

    @ParameterizedTest
    @MethodSource("modelsAndRecipes")
    void rewritten_anyModel_givesNearlyTheSameOrFails(TorchScriptModel model, Recipe recipe)
            throws Exception {
        Torch.threads(1);
        try (ZooModel<NDList, NDList> stock = model.loadStock();
                ModuleRewriter rewriter = ModuleRewriter.open()) {
            TorchScriptBlock block = TorchScriptBlock.of(stock.getBlock());
            Block rewritten = block.rewritten(rewriter, recipe).block();
            ParameterStore parameters = new ParameterStore(stock.getNDManager(), false);
            for (ModelInputs inputs : model.inputSets()) {
                try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
                    NDList arrays = inputs.create(manager, 1);
                    List<NDArray> expected = block.block().forward(parameters, arrays, false);
                    rewriter.fuse(recipe.fuses());
                    for (int i = 0; i < RUNS; i++) {
                        assertNear(expected, rewritten.forward(parameters, arrays, false));
                    }
                } catch (EngineException e) {
                    // The fuser does not support every graph, and says so when it compiles.
                    assertTrue(recipe.fuses(), e.getMessage());
                } finally {
                    rewriter.fuse(false);
                }
            }
        }
    }

    private static void assertNear(List<NDArray> expected, List<NDArray> outputs) {
        assertEquals(expected.size(), outputs.size());
        for (int i = 0; i < outputs.size(); i++) {
            assertEquals(expected.get(i).getShape(), outputs.get(i).getShape());
            assertEquals(expected.get(i).getDataType(), outputs.get(i).getDataType());
            if (expected.get(i).getDataType() == DataType.FLOAT32) {
                float[] stock = expected.get(i).toFloatArray();
                float[] mine = outputs.get(i).toFloatArray();
                for (int j = 0; j < stock.length; j++) {
                    assertTrue(Math.abs(stock[j] - mine[j]) <= TOLERANCE, stock[j] + " " + mine[j]);
                }
            }
        }
    }
}
