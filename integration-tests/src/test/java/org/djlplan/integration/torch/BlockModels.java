package org.djlplan.integration.torch;

import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.BlockFactory;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.nn.norm.BatchNorm;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.PlannedTranslatorFactory;

/** Imperative models with seeded weights: a sequence of DJL's layers, and a custom block. */
public final class BlockModels {

    public static final String NAME = "imperative";
    public static final Shape INPUT_SHAPE = new Shape(4, 6);
    public static final ModelInputs INPUTS = ModelInputs.floats(INPUT_SHAPE.getShape());

    private static final int SEED = 42;
    private static final int HIDDEN = 12;
    private static final int OUTPUTS = 3;

    private BlockModels() {}

    /** A kind of user block. */
    public enum Kind {
        SEQUENTIAL,
        CUSTOM;

        /** Makes the block, without parameters. */
        public Block create() {
            return this == SEQUENTIAL ? sequential() : new Residual();
        }
    }

    private static SequentialBlock sequential() {
        return new SequentialBlock()
                .add(Linear.builder().setUnits(HIDDEN).build())
                .add(BatchNorm.builder().build())
                .add(Activation.reluBlock())
                .add(linear(OUTPUTS));
    }

    /** Returns a layer to put behind others. */
    public static Block linear(int units) {
        return Linear.builder().setUnits(units).build();
    }

    /** A block with its own children, and operations between them. */
    private static final class Residual extends AbstractBlock {

        private final Block inner = addChildBlock("inner", sequential());
        private final Block outer = addChildBlock("outer", linear(OUTPUTS));

        @Override
        protected NDList forwardInternal(
                ParameterStore store,
                NDList inputs,
                boolean training,
                PairList<String, Object> params) {
            NDArray left = inner.forward(store, inputs, training).head();
            NDArray right = outer.forward(store, inputs, training).head();
            return new NDList(left.add(right).tanh(), left.mul(right));
        }

        @Override
        public Shape[] getOutputShapes(Shape[] inputs) {
            Shape[] shapes = inner.getOutputShapes(inputs);
            return new Shape[] {shapes[0], shapes[0]};
        }

        @Override
        protected void initializeChildBlocks(
                NDManager manager, DataType dataType, Shape... inputs) {
            inner.initialize(manager, dataType, inputs);
            outer.initialize(manager, dataType, inputs);
        }
    }

    /** Makes blocks for {@code memplan.blockFactory}. */
    public static final class Factory implements BlockFactory {

        private static final long serialVersionUID = 1L;

        @Override
        public Block newBlock(Model model, Path modelPath, Map<String, ?> arguments) {
            return Kind.CUSTOM.create();
        }
    }

    /** Saves a model with seeded random weights. */
    public static void save(Kind kind, Path folder) throws IOException {
        save(kind.create(), folder);
    }

    /** Saves a model of a block with seeded random weights. */
    public static void save(Block block, Path folder) throws IOException {
        save(block, folder, INPUT_SHAPE);
    }

    /** Saves a model of a block that takes other inputs. */
    public static void save(Block block, Path folder, Shape inputs) throws IOException {
        Engine.getEngine("PyTorch").setRandomSeed(SEED);
        try (Model model = Model.newInstance(NAME, "PyTorch")) {
            model.setBlock(block);
            block.initialize(model.getNDManager(), DataType.FLOAT32, inputs);
            model.save(folder, NAME);
        }
    }

    /** Loads the saved model as stock. */
    public static ZooModel<NDList, NDList> loadStock(Kind kind, Path folder) throws Exception {
        return load(kind.create(), folder, Optional.empty());
    }

    /** Loads the saved model of a block as stock. */
    public static ZooModel<NDList, NDList> loadStock(Block block, Path folder) throws Exception {
        return load(block, folder, Optional.empty());
    }

    /** Loads the saved model planned. */
    public static ZooModel<NDList, NDList> load(Kind kind, Path folder, Map<String, ?> arguments)
            throws Exception {
        return load(kind.create(), folder, arguments);
    }

    /** Loads the saved model of a block planned. */
    public static ZooModel<NDList, NDList> load(Block block, Path folder, Map<String, ?> arguments)
            throws Exception {
        return load(block, folder, Optional.of(arguments));
    }

    private static ZooModel<NDList, NDList> load(
            Block block, Path folder, Optional<Map<String, ?>> arguments) throws Exception {
        Criteria.Builder<NDList, NDList> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optEngine("PyTorch")
                        .optModelPath(folder)
                        .optModelName(NAME)
                        .optBlock(block);
        if (arguments.isPresent()) {
            criteria.optTranslatorFactory(new PlannedTranslatorFactory());
            arguments.get().forEach(criteria::optArgument);
        }
        return criteria.build().loadModel();
    }
}
