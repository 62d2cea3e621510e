package org.djlplan.integration.contract;

import ai.djl.Model;
import ai.djl.ModelException;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.torch.BlockModels;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.Ints;
import org.djlplan.thirdparty.guava.primitives.Longs;

/**
 * A model file of an engine. A seed stands for the inputs of a prediction; predictions with
 * consecutive seeds have different shapes if the model takes several.
 *
 * @param inputSets inputs of each shape
 * @param block makes the block of an imperative model, whose file has the parameters
 */
public record ModelCase(
        EngineCase engine,
        Path file,
        List<ModelInputs> inputSets,
        Optional<Supplier<Block>> block) {

    public ModelCase {
        inputSets = ImmutableList.copyOf(inputSets);
    }

    ModelCase(EngineCase engine, Path file, List<ModelInputs> inputSets) {
        this(engine, file, inputSets, Optional.empty());
    }

    /** Returns the same model in another file. */
    ModelCase in(Path other) {
        return new ModelCase(engine, other, inputSets, block);
    }

    /** Returns criteria without a translator. */
    public Criteria.Builder<NDList, NDList> criteria() {
        Criteria.Builder<NDList, NDList> criteria =
                Criteria.builder().setTypes(NDList.class, NDList.class).optEngine(engine.engine());
        return block.isEmpty()
                ? criteria.optModelPath(file)
                : criteria.optModelPath(file.getParent())
                        .optModelName(BlockModels.NAME)
                        .optBlock(block.get().get());
    }

    /** Returns the factory of the one line, with options. */
    public PlannedTranslatorFactory factory(Map<String, ?> options) {
        return with(new PlannedTranslatorFactory(), options);
    }

    /** Adds options to a factory. */
    public PlannedTranslatorFactory with(PlannedTranslatorFactory factory, Map<String, ?> options) {
        PlannedTranslatorFactory complete = factory;
        for (Map.Entry<String, Object> option : engine.options(options).entrySet()) {
            complete = complete.with(option.getKey(), option.getValue());
        }
        return complete;
    }

    /** Loads the model through the one line. */
    public ZooModel<NDList, NDList> load() throws IOException, ModelException {
        return load(Map.of());
    }

    /** Loads the model through the one line, with options. */
    public ZooModel<NDList, NDList> load(Map<String, ?> options)
            throws IOException, ModelException {
        return criteria().optTranslatorFactory(factory(options)).build().loadModel();
    }

    /** Loads the model with DJL alone. */
    public ZooModel<NDList, NDList> loadStock() throws IOException, ModelException {
        return criteria().build().loadModel();
    }

    /**
     * Loads the model with options, but not through criteria, which leave four directories open per
     * load in DJL 0.27.0.
     */
    ZooModel<NDList, NDList> loadDirectly(Map<String, ?> options)
            throws IOException, ModelException, TranslateException {
        String name = file.getFileName().toString();
        Model model = Model.newInstance(name.substring(0, name.indexOf('.')), engine.engine());
        model.load(file);
        return new ZooModel<>(
                model, factory(options).newInstance(NDList.class, NDList.class, model, Map.of()));
    }

    /** Returns the inputs of a seed. */
    public NDList inputs(NDManager manager, int seed) {
        return inputSets.get(seed % inputSets.size()).create(manager, seed);
    }

    /** Predicts with a predictor of its own, and returns copies of the outputs. */
    public List<ByteBuffer> predict(ZooModel<NDList, NDList> model, int seed)
            throws TranslateException {
        try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
            return predict(predictor, seed);
        }
    }

    /** Predicts with arrays of the application's, and returns copies of the outputs. */
    public List<ByteBuffer> predict(Predictor<NDList, NDList> predictor, int seed)
            throws TranslateException {
        try (NDManager manager = engine.newManager()) {
            NDList outputs = predictor.predict(inputs(manager, seed));
            outputs.attach(manager);
            return bytes(outputs);
        }
    }

    /** Copies outputs. */
    static List<ByteBuffer> bytes(NDList outputs) {
        List<ByteBuffer> copies = new ArrayList<>();
        for (NDArray output : outputs) {
            copies.add(Planned.copy(output.toByteBuffer()));
        }
        return copies;
    }

    /** Returns the outputs of the engine without djl-plan, for the seeds from 0 on. */
    public List<List<ByteBuffer>> stock(int seeds) throws Exception {
        List<List<ByteBuffer>> all = new ArrayList<>();
        if (engine == EngineCase.TFLITE) {
            // DJL's engine cannot set the number of threads; current DJL has no engine of its own.
            try (StockInterpreter stock = new StockInterpreter(file, 1);
                    NDManager manager = engine.newManager()) {
                for (int seed = 0; seed < seeds; seed++) {
                    NDList inputs = inputs(manager, seed);
                    if (inputSets.size() > 1) {
                        long[] shape = inputs.head().getShape().getShape();
                        stock.resize(Ints.toArray(Longs.asList(shape)));
                    }
                    all.add(stock.run(bytes(inputs)));
                }
            }
            return all;
        }
        engine.prepareThread();
        try (ZooModel<NDList, NDList> model = loadStock();
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            for (int seed = 0; seed < seeds; seed++) {
                all.add(predict(predictor, seed));
            }
        }
        return all;
    }
}
