package org.djlplan.integration.torch.rewrite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.training.ParameterStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.NeedsModels;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModel;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.internal.rewrite.Recipe;
import org.djlplan.memplan.internal.rewrite.Recipe.Replacement;
import org.djlplan.memplan.internal.rewrite.TorchScriptBlock;
import org.djlplan.memplan.internal.runtime.torch.ModuleRewriter;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.spi.Precision;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests weights of a lower precision: close outputs, or stock's with the reason in the report. */
@OnEveryDjlWhenLong
class LowerPrecisionTest {

    /** A lower precision is judged with the first predictions. */
    private static final int JUDGED = 32;

    /** Of outputs of two or three layers with random weights. */
    private static final Map<String, Double> ERRORS =
            Map.of("float16", 2e-3, "bfloat16", 2e-2, "int8", 4e-2);

    @TempDir Path folder;

    @BeforeEach
    void useOneThread() {
        Torch.threads(1);
    }

    private static Map<String, String> permitted(String precision) {
        return Map.of("delegation.precision", precision, "delegation.profile", "blocking:1s");
    }

    static Stream<Arguments> modelsAndRecipes() {
        return Stream.of("attention", "embedding", "no_bias", "large_rows")
                .flatMap(name -> Recipe.lower().stream().map(recipe -> Arguments.of(name, recipe)));
    }

    @ParameterizedTest
    @MethodSource("modelsAndRecipes")
    void rewritten_layersWithAndWithoutBias_givesCloseOutputs(String name, Recipe recipe)
            throws Exception {
        TorchScriptModel model = TorchScriptModels.named(name);
        try (ZooModel<NDList, NDList> stock = model.loadStock();
                ModuleRewriter rewriter = ModuleRewriter.open()) {
            TorchScriptBlock block = TorchScriptBlock.of(stock.getBlock());
            TorchScriptBlock rewritten = block.rewritten(rewriter, recipe);
            ParameterStore parameters = new ParameterStore(stock.getNDManager(), false);
            for (ModelInputs inputs : model.inputSets()) {
                double error =
                        NearOutputs.relativeError(
                                forward(block.block(), parameters, inputs),
                                forward(rewritten.block(), parameters, inputs));
                assertTrue(error > 0 && error < ERRORS.get(recipe.name()), name + ": " + error);
            }
        }
    }

    static Stream<Recipe> recipes() {
        return Recipe.lower().stream();
    }

    @ParameterizedTest
    @MethodSource("recipes")
    void rewritten_emptyBatch_givesAnEmptyOutput(Recipe recipe) throws Exception {
        try (ZooModel<NDList, NDList> stock =
                        TorchScriptModels.named("outlier_channel").loadStock();
                ModuleRewriter rewriter = ModuleRewriter.open();
                NDManager manager = NDManager.newBaseManager("PyTorch")) {
            Block rewritten =
                    TorchScriptBlock.of(stock.getBlock()).rewritten(rewriter, recipe).block();
            ParameterStore parameters = new ParameterStore(stock.getNDManager(), false);
            NDList empty = new NDList(manager.zeros(new Shape(0, 64)));
            Shape shape = rewritten.forward(parameters, empty, false).head().getShape();
            assertEquals(new Shape(0, 64), shape);
        }
    }

    /** Processors without AVX-512 VNNI add two products of bytes in 16 bits. */
    @Test
    void rewritten_olderInstructions_sumsDoNotOverflow() throws Exception {
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .small()
                        .environment(Map.of("FBGEMM_ENABLE_INSTRUCTIONS", "AVX2"))
                        .run(OfOlderInstructions.class);
        assertEquals(0, result.exitCode(), result.printed());
        String[] errors = result.out().strip().split(" ", -1);
        double error = Double.parseDouble(errors[0]);
        double withAllBits = Double.parseDouble(errors[1]);
        // One bit fewer doubles the roundings.
        assertTrue(error < 2 * ERRORS.get("int8") && withAllBits > 4 * error, result.out());
    }

    /** Prints the error of a layer with 8-bit inputs of 7 bits, and of all bits. */
    static final class OfOlderInstructions {

        private OfOlderInstructions() {}

        public static void main(String[] arguments) throws Exception {
            Recipe recipe = Recipe.named("int8").orElseThrow();
            Recipe full =
                    new Recipe(
                            "all bits",
                            recipe.base(),
                            recipe.replacements().stream()
                                    .map(OfOlderInstructions::withAllBits)
                                    .collect(ImmutableList.toImmutableList()));
            System.out.println(error(recipe) + " " + error(full));
        }

        private static Replacement withAllBits(Replacement each) {
            String flag = "%reduced : bool = prim::Constant[value=";
            return new Replacement(
                    each.pattern(), each.replacement().replace(flag + "1", flag + "0"));
        }

        private static double error(Recipe recipe) throws Exception {
            try (ZooModel<NDList, NDList> stock = TorchScriptModels.named("no_bias").loadStock();
                    ModuleRewriter rewriter = ModuleRewriter.open();
                    NDManager manager = NDManager.newBaseManager("PyTorch")) {
                TorchScriptBlock block = TorchScriptBlock.of(stock.getBlock());
                Block rewritten = block.rewritten(rewriter, recipe).block();
                ParameterStore parameters = new ParameterStore(stock.getNDManager(), false);
                // The largest input is the largest byte, so many sums are large.
                NDList inputs = new NDList(manager.ones(new Shape(4, 16)));
                return NearOutputs.relativeError(
                        Output.copyOf(block.block().forward(parameters, inputs, false)),
                        Output.copyOf(rewritten.forward(parameters, inputs, false)));
            }
        }
    }

    private static List<Output> forward(
            Block block, ParameterStore parameters, ModelInputs inputs) {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            return Output.copyOf(block.forward(parameters, inputs.create(manager, 1), false));
        }
    }

    @ParameterizedTest
    @CsvSource({"outlier_channel, int8", "large_weights, float16"})
    void predict_tooInaccurate_servesAtFullPrecision(String name, String precision)
            throws Exception {
        TorchScriptModel model = TorchScriptModels.named(name);
        Path file = Torch.copy(model, folder);
        ModelInputs inputs = model.inputSets().get(0);
        List<List<Output>> expected = Torch.stock(file, inputs, JUDGED + 1);
        try (ZooModel<NDList, NDList> permitting = Torch.load(file, permitted(precision));
                Predictor<NDList, NDList> predictor = permitting.newPredictor()) {
            for (int seed = 0; seed <= JUDGED; seed++) {
                NearOutputs.assertNear(expected.get(seed), Torch.predict(predictor, inputs, seed));
            }
            String reason = Torch.report(permitting).delegation().orElseThrow().reason();
            assertTrue(
                    reason.contains(precision + " is refused: the relative error of an output is"),
                    reason);
        }
    }

    @Test
    void predict_inputsWithNan_isRefusedWithTheReason() throws Exception {
        Path file = Torch.copy(TorchScriptModels.named("no_bias"), folder);
        try (ZooModel<NDList, NDList> stock = Torch.loadStock(file);
                ZooModel<NDList, NDList> permitting = Torch.load(file, permitted("int8"));
                Predictor<NDList, NDList> stockPredictor = stock.newPredictor();
                Predictor<NDList, NDList> predictor = permitting.newPredictor();
                NDManager manager = NDManager.newBaseManager("PyTorch")) {
            for (int i = 0; i <= JUDGED; i++) {
                float[] values = new float[4 * 16];
                Arrays.fill(values, i);
                values[i] = Float.NaN;
                NDList inputs = new NDList(manager.create(values, new Shape(4, 16)));
                NearOutputs.assertNear(
                        Output.copyOf(stockPredictor.predict(inputs)),
                        Output.copyOf(predictor.predict(inputs)));
            }
            String reason = Torch.report(permitting).delegation().orElseThrow().reason();
            assertTrue(reason.contains("int8 is refused: "), reason);
        }
    }

    @Test
    void predict_fewerRequests_decidesNothing() throws Exception {
        TorchScriptModel model = TorchScriptModels.named("attention");
        Path file = Torch.copy(model, folder);
        try (ZooModel<NDList, NDList> permitting = Torch.load(file, permitted("float16"))) {
            for (int seed = 0; seed < JUDGED - 1; seed++) {
                List<Output> unused = Torch.predict(permitting, model.inputSets().get(0), seed);
            }
            assertTrue(Torch.report(permitting).delegation().isEmpty());
        }
    }

    @Test
    void load_folderPermits_isAnError() throws Exception {
        Path file = Torch.copy(TorchScriptModels.named("attention"), folder);
        Path properties = file.resolveSibling("serving.properties");
        Files.writeString(properties, "delegation.precision=int8\n");
        Exception refused = assertThrows(Exception.class, () -> Torch.load(file, Map.of()).close());
        assertTrue(refused.toString().contains("delegation.precision"), refused.toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"int4", "int8:2"})
    void load_otherPrecision_isAnErrorThatListsTheValidOnes(String precision) throws Exception {
        Path file = Torch.copy(TorchScriptModels.named("attention"), folder);
        Exception refused =
                assertThrows(Exception.class, () -> Torch.load(file, permitted(precision)).close());
        assertTrue(
                refused.toString().contains("must be float32, float16, bfloat16 or int8"),
                refused.toString());
    }

    /**
     * Half of the weights of this encoder are in linear layers, the others in embeddings. The
     * kernels for 16 bits extend the 384 inputs of most layers to 512.
     */
    @ParameterizedTest
    @CsvSource({"float16, 0.62", "int8, 0.35"})
    @NeedsModels(RealModels.TORCHSCRIPT)
    void predict_encoder_runsInFewerBytes(String precision, double most) throws Exception {
        String reason = reportOfEncoder(precision).reason();
        // On a busy machine no difference in time may be certain; then stock serves.
        double own = megabytes(precision + ":? [\\d.]+ ms in ", reason);
        double stock = megabytes("stock(?:: [\\d.]+ ms in | \\()", reason);
        assertTrue(own <= most * stock, reason);
    }

    private static double megabytes(String before, String reason) {
        Matcher found = Pattern.compile(before + "([\\d.]+) MB").matcher(reason);
        assertTrue(found.find(), reason);
        return Double.parseDouble(found.group(1));
    }

    /** Returns what serves after the first predictions, all of which must be close to stock's. */
    private DelegationReport reportOfEncoder(String precision) throws Exception {
        Path file = Torch.copy(RealModels.TORCHSCRIPT.file("minilm"), folder);
        double limit = Precision.parse(precision).orElseThrow().tolerance().hard().orElseThrow();
        Map<String, String> options =
                Map.of("delegation.precision", precision, "delegation.profile", "blocking:4s");
        try (ZooModel<NDList, NDList> stock = Torch.loadStock(file);
                ZooModel<NDList, NDList> permitting = Torch.load(file, options);
                Predictor<NDList, NDList> predictor = permitting.newPredictor()) {
            for (int seed = 0; seed <= JUDGED; seed++) {
                ModelInputs text =
                        new ModelInputs(List.of()).and(DataType.INT64, 1000, 1, 8 + seed % 8);
                double error =
                        NearOutputs.relativeError(
                                Torch.predict(stock, text, seed),
                                Torch.predict(predictor, text, seed));
                assertTrue(error <= limit, seed + ": " + error);
            }
            return Torch.report(permitting).delegation().orElseThrow();
        }
    }
}
