package org.djlplan.integration.torch.rewrite;

import static org.junit.jupiter.api.Assertions.assertThrows;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.training.ParameterStore;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModel;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.internal.rewrite.Recipe;
import org.djlplan.memplan.internal.rewrite.TorchScriptBlock;
import org.djlplan.memplan.internal.runtime.torch.ModuleRewriter;
import org.djlplan.memplan.internal.runtime.torch.ModuleRewriter.RefusedException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests each recipe on small models, in this process. */
@OnEveryDjlWhenLong
class RecipeTest {

    private static final int RUNS = 4;

    /**
     * Models that are never rewritten, because their outputs are of few bits or amplify the last.
     */
    private static final Set<String> REFUSED =
            Set.of("half", "bfloat16", "chaotic", "double_precision", "quantized", "training_norm");

    /** Models for whose convolutions two recipes fail, when they are built or for some inputs. */
    private static final Set<String> PARTLY = Set.of("same_padding", "one_image");

    static Stream<Arguments> modelsAndRecipes() {
        return Stream.concat(
                        TorchScriptModels.stateless().stream(),
                        TorchScriptModels.hostile().stream())
                .filter(model -> !model.stateful() && !REFUSED.contains(model.name()))
                .filter(model -> !PARTLY.contains(model.name()))
                .flatMap(model -> Recipe.all().stream().map(each -> Arguments.of(model, each)));
    }

    @ParameterizedTest
    @MethodSource("modelsAndRecipes")
    void rewritten_anyModel_givesNearlyTheSame(TorchScriptModel model, Recipe recipe)
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
                    List<Output> expected =
                            Output.copyOf(block.block().forward(parameters, arrays, false));
                    for (int i = 0; i < RUNS; i++) {
                        NearOutputs.assertNear(
                                expected,
                                Output.copyOf(rewritten.forward(parameters, arrays, false)));
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"optimize_for_inference", "channels-last"})
    void rewritten_namedPadding_isRefused(String recipe) throws Exception {
        try (ZooModel<NDList, NDList> stock = TorchScriptModels.named("same_padding").loadStock();
                ModuleRewriter rewriter = ModuleRewriter.open()) {
            TorchScriptBlock block = TorchScriptBlock.of(stock.getBlock());
            assertThrows(
                    RefusedException.class,
                    () -> block.rewritten(rewriter, Recipe.named(recipe).orElseThrow()).close());
        }
    }
}
