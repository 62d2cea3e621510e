package org.djlplan.integration.torch.answer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.SymbolBlock;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.GradientCollector;
import ai.djl.training.Trainer;
import ai.djl.training.loss.Loss;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.torch.BlockModels;
import org.djlplan.integration.torch.BlockModels.Kind;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.integration.torch.TorchTests;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that a wrapped block supports what users do with a model's block, with the same results.
 */
@OnEveryDjl
class TorchBlocksTest implements TorchTests {

    private static final int SEEDS = 6;

    /** Options with which only allocations are planned. */
    private static final Map<String, ?> PLAIN = Map.of("memplan.liveness", "off");

    @TempDir Path folder;

    private static List<List<Output>> answers(ZooModel<NDList, NDList> model) throws Exception {
        List<List<Output>> answers = new ArrayList<>();
        for (int seed = 0; seed < SEEDS; seed++) {
            answers.add(Torch.predict(model, BlockModels.INPUTS, seed));
        }
        return answers;
    }

    @ParameterizedTest
    @EnumSource
    void predict_imperative_givesTheStockBytes(Kind kind) throws Exception {
        BlockModels.save(kind, folder);
        try (ZooModel<NDList, NDList> stock = BlockModels.loadStock(kind, folder);
                ZooModel<NDList, NDList> planned = BlockModels.load(kind, folder, PLAIN)) {
            assertEquals(answers(stock), answers(planned));
            PlanReport report = Torch.report(planned);
            assertEquals(0, report.predictions().unplanned());
            assertEquals(0, report.predictions().unplannedAllocations());
        }
    }

    @ParameterizedTest
    @EnumSource
    void block_described_isAsStock(Kind kind) throws Exception {
        BlockModels.save(kind, folder);
        try (ZooModel<NDList, NDList> stock = BlockModels.loadStock(kind, folder);
                ZooModel<NDList, NDList> planned = BlockModels.load(kind, folder, PLAIN)) {
            initialize(stock);
            initialize(planned);
            assertDescribedAlike(stock, planned);
            assertEquals(answers(stock), answers(planned));
            assertDescribedAlike(stock, planned);
        }
    }

    /**
     * Initializes a block, because a block with loaded parameters has no names for its inputs
     * before that.
     */
    private static void initialize(Model model) {
        model.getBlock()
                .initialize(model.getNDManager(), DataType.FLOAT32, BlockModels.INPUT_SHAPE);
    }

    private static void assertDescribedAlike(Model stock, Model planned) {
        Block expected = stock.getBlock();
        Block actual = planned.getBlock();
        assertEquals(expected.toString(), actual.toString());
        assertEquals(expected.describeInput(), actual.describeInput());
        assertEquals(stock.describeInput(), planned.describeInput());
        assertEquals(stock.describeOutput(), planned.describeOutput());
        assertEquals(expected.getParameters().keys(), actual.getParameters().keys());
        assertEquals(expected.getDirectParameters().keys(), actual.getDirectParameters().keys());
        assertEquals(expected.getChildren().keys(), actual.getChildren().keys());
        assertArrayEquals(
                expected.getOutputShapes(new Shape[] {BlockModels.INPUT_SHAPE}),
                actual.getOutputShapes(new Shape[] {BlockModels.INPUT_SHAPE}));
        assertTrue(actual.isInitialized());
    }

    @ParameterizedTest
    @EnumSource
    void save_wrappedBlock_writesTheSameBytesAndLoadsThem(Kind kind) throws Exception {
        BlockModels.save(kind, folder);
        // There is no argument with the block factory, because DJL would save it, too.
        Path other = Files.createDirectory(folder.resolve("other"));
        Path stockOther = Files.createDirectory(folder.resolve("stock"));
        try (ZooModel<NDList, NDList> stock = BlockModels.loadStock(kind, folder);
                ZooModel<NDList, NDList> planned = BlockModels.load(kind, folder, Map.of())) {
            List<List<Output>> expected = answers(stock);
            assertEquals(expected, answers(planned));
            initialize(stock);
            initialize(planned);
            stock.save(stockOther, BlockModels.NAME);
            planned.save(other, BlockModels.NAME);
            assertEquals(-1, Files.mismatch(parameters(stockOther), parameters(other)));
            try (ZooModel<NDList, NDList> loaded = BlockModels.load(kind, other, PLAIN)) {
                assertEquals(expected, answers(loaded));
            }
        }
    }

    private static Path parameters(Path folder) {
        return folder.resolve(BlockModels.NAME + "-0000.params");
    }

    @ParameterizedTest
    @EnumSource
    void train_wrappedBlock_givesTheStockWeights(Kind kind) throws Exception {
        BlockModels.save(kind, folder);
        try (ZooModel<NDList, NDList> stock = BlockModels.loadStock(kind, folder);
                ZooModel<NDList, NDList> planned = BlockModels.load(kind, folder, PLAIN)) {
            List<List<Output>> before = answers(stock);
            assertEquals(before, answers(planned));
            train(stock);
            train(planned);
            assertEquals(weights(stock), weights(planned));
            List<List<Output>> after = answers(stock);
            assertNotEquals(before, after);
            assertEquals(after, answers(planned));
        }
    }

    /** Trains two steps, with a prediction in between. */
    private static void train(ZooModel<NDList, NDList> model) throws Exception {
        Engine.getEngine("PyTorch").setRandomSeed(7);
        DefaultTrainingConfig config = new DefaultTrainingConfig(Loss.l2Loss());
        try (Trainer trainer = model.newTrainer(config)) {
            trainer.initialize(BlockModels.INPUT_SHAPE);
            for (int step = 0; step < 2; step++) {
                NDList inputs = BlockModels.INPUTS.create(trainer.getManager(), step);
                try (GradientCollector gradients = trainer.newGradientCollector()) {
                    NDArray output = trainer.forward(inputs).head();
                    gradients.backward(
                            trainer.getLoss()
                                    .evaluate(
                                            new NDList(output.zerosLike().add(1)),
                                            new NDList(output)));
                }
                trainer.step();
                assertFalse(Torch.predict(model, BlockModels.INPUTS, step).isEmpty());
            }
        }
    }

    /** Such a prediction may be a part of training. */
    @Test
    void predict_gradientsAreCollected_hasThoseOfStock() throws Exception {
        BlockModels.save(Kind.CUSTOM, folder);
        try (ZooModel<NDList, NDList> stock = BlockModels.loadStock(Kind.CUSTOM, folder);
                ZooModel<NDList, NDList> planned = BlockModels.load(Kind.CUSTOM, folder, PLAIN)) {
            List<Output> expected = gradientsOfPrediction(stock);
            assertFalse(expected.isEmpty());
            List<List<Output>> answers = answers(stock);
            assertEquals(answers, answers(planned));
            long before = Torch.report(planned).predictions().unplanned();
            assertEquals(expected, gradientsOfPrediction(planned));
            assertEquals(before + 1, Torch.report(planned).predictions().unplanned());
            assertEquals(answers, answers(planned));
            assertEquals(Optional.empty(), Torch.report(planned).unplannedReason());
        }
    }

    private static List<Output> gradientsOfPrediction(ZooModel<NDList, NDList> model)
            throws Exception {
        try (Trainer trainer = model.newTrainer(new DefaultTrainingConfig(Loss.l2Loss()));
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            trainer.initialize(BlockModels.INPUT_SHAPE);
            for (int seed = 0; seed < 2; seed++) {
                assertFalse(Torch.predict(predictor, BlockModels.INPUTS, seed).isEmpty());
            }
            try (GradientCollector gradients = Engine.getEngine("PyTorch").newGradientCollector()) {
                NDList inputs = BlockModels.INPUTS.create(trainer.getManager(), 2);
                gradients.backward(predictor.predict(inputs).head().sum());
            }
            return Output.copyOf(
                    new NDList(
                            model.getBlock().getParameters().values().stream()
                                    .map(parameter -> parameter.getArray())
                                    .filter(NDArray::hasGradient)
                                    .map(NDArray::getGradient)
                                    .toList()));
        }
    }

    private static List<Output> weights(Model model) {
        return Output.copyOf(
                new NDList(
                        model.getBlock().getParameters().values().stream()
                                .map(parameter -> parameter.getArray())
                                .toList()));
    }

    @Test
    void block_castToSequentialAndChanged_givesTheStockBytes() throws Exception {
        BlockModels.save(Kind.SEQUENTIAL, folder);
        try (ZooModel<NDList, NDList> stock = BlockModels.loadStock(Kind.SEQUENTIAL, folder);
                ZooModel<NDList, NDList> planned =
                        BlockModels.load(Kind.SEQUENTIAL, folder, PLAIN)) {
            assertEquals(answers(stock), answers(planned));
            replaceLast(stock);
            replaceLast(planned);
            List<List<Output>> expected = answers(stock);
            assertEquals(new Shape(4, 5), expected.get(0).get(0).shape());
            assertEquals(expected, answers(planned));
        }
    }

    private static void replaceLast(Model model) {
        Engine.getEngine("PyTorch").setRandomSeed(9);
        SequentialBlock block = assertInstanceOf(SequentialBlock.class, model.getBlock());
        block.removeLastBlock();
        block.add(BlockModels.linear(5));
        initialize(model);
    }

    @ParameterizedTest
    @EnumSource
    void block_insideOfAnother_givesTheStockBytes(Kind kind) throws Exception {
        BlockModels.save(kind, folder);
        try (ZooModel<NDList, NDList> stock = BlockModels.loadStock(kind, folder);
                ZooModel<NDList, NDList> planned = BlockModels.load(kind, folder, PLAIN)) {
            for (Model model : List.of(stock, planned)) {
                Engine.getEngine("PyTorch").setRandomSeed(11);
                SequentialBlock outer =
                        new SequentialBlock()
                                .add(model.getBlock())
                                .add(list -> new NDList(list.head()))
                                .add(BlockModels.linear(2));
                model.setBlock(outer);
                initialize(model);
            }
            assertEquals(answers(stock), answers(planned));
            train(stock);
            train(planned);
            assertEquals(answers(stock), answers(planned));
        }
    }

    @ParameterizedTest
    @EnumSource
    void block_inCollections_isEqualToItselfOnly(Kind kind) throws Exception {
        BlockModels.save(kind, folder);
        try (ZooModel<NDList, NDList> one = BlockModels.load(kind, folder, PLAIN);
                ZooModel<NDList, NDList> other = BlockModels.load(kind, folder, PLAIN)) {
            Block block = one.getBlock();
            assertEquals(block, block);
            assertEquals(block.hashCode(), block.hashCode());
            assertNotEquals(block, other.getBlock());
            assertFalse(block.equals(null));
            assertEquals(2, Set.of(block, other.getBlock()).size());
            assertTrue(List.of(other.getBlock(), block).contains(block));
        }
    }

    @Test
    void block_ofTorchScript_isUnchanged() throws Exception {
        Path file = Torch.copy(TorchScriptModels.named("cnn"), folder);
        try (ZooModel<NDList, NDList> stock = Torch.loadStock(file);
                ZooModel<NDList, NDList> planned = Torch.load(file, Map.of())) {
            Block block = planned.getBlock();
            assertInstanceOf(SymbolBlock.class, block);
            ModelInputs inputs = TorchScriptModels.named("cnn").inputSets().get(0);
            assertEquals(Torch.predict(stock, inputs, 1), Torch.predict(planned, inputs, 1));
            assertEquals(stock.describeInput(), planned.describeInput());
            assertEquals(stock.getBlock().getParameters().keys(), block.getParameters().keys());
            assertEquals(weights(stock), weights(planned));
            assertEquals(1, Set.of(block).size());
            assertTrue(Set.of(block).contains(block));
            assertNotEquals(block, stock.getBlock());
        }
    }
}
