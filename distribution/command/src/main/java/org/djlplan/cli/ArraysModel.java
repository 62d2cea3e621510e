package org.djlplan.cli;

import ai.djl.MalformedModelException;
import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ModelNotFoundException;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.DefaultTranslatorFactory;
import ai.djl.translate.TranslateException;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Supplier;

/**
 * A model that takes and returns arrays, loaded as users load it: files by criteria, blocks
 * directly.
 *
 * @param model must be closed after all its predictors
 * @param predictors creates a predictor for use by one thread
 */
record ArraysModel(Model model, Supplier<Predictor<NDList, NDList>> predictors) {

    /** Seed of a block's weights, so that they are the same in every process. */
    private static final int WEIGHTS_SEED = 1;

    /**
     * Loads a model.
     *
     * @param factory DJL's default factory for a stock model, djl-plan's for a planned one
     * @param arguments of the model
     * @throws Failure if loading fails
     */
    static ArraysModel load(
            RunOptions options, TranslatorFactory factory, Map<String, String> arguments) {
        ModelRef ref = options.model();
        if (ref instanceof ModelRef.OfFile file) {
            return loadFile(file.readable(), options, factory, arguments);
        }
        return loadBlock(build(ref), options, factory, arguments);
    }

    /**
     * Returns a new block that is not initialized.
     *
     * @param ref must not name a file
     * @throws Failure if there is no such block
     */
    private static Block build(ModelRef ref) {
        return ref instanceof ModelRef.OfZoo zoo
                ? build(ref, zoo.network().blocks())
                : build((ModelRef.OfClass) ref);
    }

    /** Returns DJL's default translator factory. */
    static TranslatorFactory stockFactory() {
        return new DefaultTranslatorFactory();
    }

    private static ArraysModel loadFile(
            Path file,
            RunOptions options,
            TranslatorFactory factory,
            Map<String, String> arguments) {
        Criteria.Builder<NDList, NDList> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optModelPath(file)
                        .optEngine(options.engine().engineName())
                        .optTranslatorFactory(factory);
        if (options.engine() == EngineKind.TFLITE && options.threads().isPresent()) {
            // An option of djl-plan's engine; DJL's own engine has no such option.
            criteria.optOption("numThreads", Integer.toString(options.threads().getAsInt()));
        }
        if (options.engine() == EngineKind.ONNX_RUNTIME && options.threads().isPresent()) {
            // DJL reads intraOpNumThreads only if interOpNumThreads is set, too.
            criteria.optOption("interOpNumThreads", "1");
            criteria.optOption("intraOpNumThreads", Integer.toString(options.threads().getAsInt()));
        }
        arguments.forEach(criteria::optArgument);
        try {
            ZooModel<NDList, NDList> model = criteria.build().loadModel();
            return new ArraysModel(model, model::newPredictor);
        } catch (IOException | ModelNotFoundException | MalformedModelException e) {
            throw Failure.toLoad(e);
        }
    }

    private static ArraysModel loadBlock(
            Block block,
            RunOptions options,
            TranslatorFactory factory,
            Map<String, String> arguments) {
        String engine = options.engine().engineName();
        Model model = Model.newInstance(options.modelName(), engine);
        try {
            Engine.getEngine(engine).setRandomSeed(WEIGHTS_SEED);
            Shape[] shapes = options.inputs().stream().map(InputSpec::shape).toArray(Shape[]::new);
            block.initialize(model.getNDManager(), DataType.FLOAT32, shapes);
            model.setBlock(block);
            Translator<NDList, NDList> translator =
                    factory.newInstance(NDList.class, NDList.class, model, arguments);
            return new ArraysModel(model, () -> model.newPredictor(translator));
        } catch (TranslateException | RuntimeException e) {
            model.close();
            throw new Failure(
                    "cannot run %s with inputs %s"
                            .formatted(options.modelName(), InputSpec.texts(options.inputs())),
                    e);
        }
    }

    private static Block build(ModelRef ref, Supplier<Block> blocks) {
        try {
            return blocks.get();
        } catch (NoClassDefFoundError e) {
            throw new Failure(ref.text() + " needs ai.djl:model-zoo on the class path", e);
        }
    }

    private static Block build(ModelRef.OfClass ref) {
        try {
            return Class.forName(ref.className())
                    .asSubclass(Block.class)
                    .getConstructor()
                    .newInstance();
        } catch (ReflectiveOperationException | ClassCastException | LinkageError e) {
            throw new Failure(
                    ref.text()
                            + " is no block with a public constructor without parameters on the"
                            + " class path",
                    e);
        }
    }
}
