package org.djlplan.integration.support;

import ai.djl.Model;
import ai.djl.ModelException;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import ai.djl.translate.TranslateException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.djlplan.memplan.PlannedTranslatorFactory;

/** Loads and runs models through DJL with the one line that a user adds. */
public final class Planned {

    private static final Set<String> APPLICATIONS =
            Set.of(
                    "memplan.threads",
                    "memplan.workers",
                    "delegation.delegate",
                    "delegation.precision");

    private Planned() {}

    /**
     * Returns the arguments, and switches delegation off unless they configure it, because its
     * outputs are not the same bit by bit.
     */
    public static Map<String, Object> complete(Map<String, ?> arguments) {
        Map<String, Object> complete = new HashMap<>(arguments);
        if (arguments.keySet().stream().noneMatch(key -> key.startsWith("delegation."))) {
            complete.put("delegation.enabled", "false");
        }
        return complete;
    }

    /**
     * Returns a factory with the options that only an application may set on a machine with few
     * cores.
     */
    public static PlannedTranslatorFactory factory(Map<String, ?> options) {
        PlannedTranslatorFactory factory = new PlannedTranslatorFactory();
        for (Map.Entry<String, ?> option : options.entrySet()) {
            if (APPLICATIONS.contains(option.getKey())) {
                factory = factory.with(option.getKey(), option.getValue());
            }
        }
        return factory;
    }

    /** Returns the other options. */
    public static Map<String, Object> arguments(Map<String, ?> options) {
        Map<String, Object> others = new HashMap<>(options);
        others.keySet().removeAll(APPLICATIONS);
        return others;
    }

    /** Loads a model planned, with options as DJL arguments if these may have them. */
    public static ZooModel<NDList, NDList> load(Path file, Map<String, ?> options)
            throws IOException, ModelException {
        Criteria.Builder<NDList, NDList> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optModelPath(file)
                        .optEngine("TFLite")
                        .optTranslatorFactory(factory(options));
        arguments(complete(options)).forEach(criteria::optArgument);
        return criteria.build().loadModel();
    }

    /**
     * Loads a model planned, but not through criteria. Criteria of DJL 0.27.0 leave four
     * directories open per load, which would hide whether closing frees everything.
     */
    public static ZooModel<NDList, NDList> loadDirectly(Path file, Map<String, ?> options)
            throws IOException, ModelException, TranslateException {
        Model model = Model.newInstance("direct", "TFLite");
        model.load(file);
        return new ZooModel<>(
                model,
                factory(options)
                        .newInstance(
                                NDList.class, NDList.class, model, arguments(complete(options))));
    }

    /** Loads a model like {@link #loadDirectly}, but without a plan. */
    public static ZooModel<NDList, NDList> loadPlain(Path file, int threads)
            throws IOException, ModelException {
        Model model = Model.newInstance("direct", "TFLite");
        model.load(file, null, Map.of("numThreads", threads));
        return new ZooModel<>(model, new NoopTranslator());
    }

    /** Loads a model with DJL alone. */
    public static ZooModel<NDList, NDList> loadStock(Path file) throws IOException, ModelException {
        return Criteria.builder()
                .setTypes(NDList.class, NDList.class)
                .optModelPath(file)
                .optEngine("TFLite")
                .build()
                .loadModel();
    }

    /** Predicts once; the outputs are copied into buffers of their own. */
    public static List<ByteBuffer> predict(
            ZooModel<NDList, NDList> model, List<ByteBuffer> values, List<List<Integer>> shapes)
            throws TranslateException {
        try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
            return predict(predictor, model.getNDManager(), values, shapes);
        }
    }

    /** Predicts once; the outputs are copied into buffers of their own. */
    public static List<ByteBuffer> predict(
            Predictor<NDList, NDList> predictor,
            NDManager parent,
            List<ByteBuffer> values,
            List<List<Integer>> shapes)
            throws TranslateException {
        try (NDManager manager = parent.newSubManager()) {
            NDList outputs = predictor.predict(inputs(manager, values, shapes));
            List<ByteBuffer> copies = new ArrayList<>();
            for (NDArray output : outputs) {
                copies.add(copy(output.toByteBuffer()));
            }
            return copies;
        }
    }

    /** Returns arrays that use the buffers of the values. */
    public static NDList inputs(
            NDManager manager, List<ByteBuffer> values, List<List<Integer>> shapes) {
        NDList inputs = new NDList();
        for (int i = 0; i < values.size(); i++) {
            long[] shape = shapes.get(i).stream().mapToLong(Integer::longValue).toArray();
            ByteBuffer value = values.get(i).duplicate().order(ByteOrder.nativeOrder());
            inputs.add(manager.create(value, new Shape(shape), DataType.FLOAT32));
        }
        return inputs;
    }

    /** Returns a copy that no other code writes to. */
    public static ByteBuffer copy(ByteBuffer source) {
        ByteBuffer copy = ByteBuffer.allocate(source.remaining());
        copy.put(source.duplicate()).rewind();
        return copy;
    }
}
