package org.djlplan.integration.bench;

import ai.djl.engine.Engine;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import java.nio.file.Path;
import java.util.Arrays;
import org.djlplan.integration.support.BareInterpreter;
import org.djlplan.integration.support.ProcessSize;
import org.djlplan.memplan.PlannedTranslatorFactory;

/**
 * Loads a model in a JVM that has loaded nothing but the engine, and predicts.
 *
 * <p>Usage: {@code stock|planned|xnnpack MODEL SHAPE floats|integers PREDICTIONS [OPTION=VALUE …]};
 * {@code xnnpack} is the engine's C interface with its delegate, without DJL.
 */
final class ColdStartProgram {

    private static final double NANOS_PER_MILLI = 1e6;

    private ColdStartProgram() {}

    /**
     * Prints the milliseconds of the load, of the first prediction and of the others, and the bytes
     * by which the process grew since the engine was loaded.
     */
    public static void main(String[] arguments) throws Exception {
        Path file = Path.of(arguments[1]);
        int predictions = Integer.parseInt(arguments[4]);
        String engine = arguments[1].endsWith(".pt") ? "PyTorch" : "TFLite";
        Engine.getEngine(engine).newBaseManager().close();
        long before = ProcessSize.residentBytes();
        long begin = System.nanoTime();
        if (arguments[0].equals("xnnpack")) {
            BareInterpreter bare = BareInterpreter.xnnpack(file, 1);
            predict(begin, before, predictions, bare::run);
            return;
        }
        try (ZooModel<NDList, NDList> model = criteria(arguments, engine, file).loadModel();
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDArray input = input(model.getNDManager(), arguments[2], arguments[3])) {
            predict(
                    begin,
                    before,
                    predictions,
                    () -> {
                        try (NDList outputs = predictor.predict(new NDList(input))) {
                            outputs.head().toByteBuffer();
                        }
                    });
        }
    }

    private interface Step {
        void run() throws Exception;
    }

    private static void predict(long begin, long before, int predictions, Step step)
            throws Exception {
        long loaded = System.nanoTime();
        step.run();
        long first = System.nanoTime();
        for (int i = 1; i < predictions; i++) {
            step.run();
        }
        long end = System.nanoTime();
        System.out.println(
                (loaded - begin) / NANOS_PER_MILLI
                        + " "
                        + (first - loaded) / NANOS_PER_MILLI
                        + " "
                        + (end - first) / NANOS_PER_MILLI
                        + " "
                        + (ProcessSize.residentBytes() - before));
    }

    private static NDArray input(NDManager manager, String shape, String type) {
        Shape dimensions =
                new Shape(Arrays.stream(shape.split(",", -1)).mapToLong(Long::parseLong).toArray());
        int size = (int) dimensions.size();
        return type.equals("integers")
                ? manager.create(new long[size], dimensions)
                : manager.create(new float[size], dimensions);
    }

    private static Criteria<NDList, NDList> criteria(String[] arguments, String engine, Path file) {
        Criteria.Builder<NDList, NDList> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optEngine(engine)
                        .optModelPath(file);
        if (arguments[0].equals("stock")) {
            if (engine.equals("TFLite")) {
                criteria.optOption("numThreads", "1");
            }
            return criteria.optTranslator(new NoopTranslator()).build();
        }
        for (String option : Arrays.asList(arguments).subList(5, arguments.length)) {
            int equals = option.indexOf('=');
            criteria.optArgument(option.substring(0, equals), option.substring(equals + 1));
        }
        return criteria.optTranslatorFactory(PlannedTranslatorFactory.wrap(new NoopTranslator()))
                .build();
    }
}
