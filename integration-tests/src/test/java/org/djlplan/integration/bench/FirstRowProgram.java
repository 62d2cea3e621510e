package org.djlplan.integration.bench;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.djlplan.integration.support.ProcessSize;
import org.djlplan.memplan.PlannedTranslatorFactory;

/** An application that loads a TensorFlow Lite image model and predicts one row. */
final class FirstRowProgram {

    private static final Shape IMAGE = new Shape(1, 224, 224, 3);

    private FirstRowProgram() {}

    /**
     * Prints the milliseconds from here to the row's output, the bytes that the process grew by,
     * and a sum of the output's bits.
     *
     * @param arguments the model's file, and options of a planned load; stock without any
     */
    public static void main(String[] arguments) throws Exception {
        long before = ProcessSize.residentBytes();
        long begin = System.nanoTime();
        try (ZooModel<NDList, NDList> model = criteria(arguments).loadModel();
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDArray input = model.getNDManager().create(noise(), IMAGE);
                NDList output = predictor.predict(new NDList(input))) {
            int bits = Arrays.hashCode(output.head().toFloatArray());
            double millis = (System.nanoTime() - begin) / 1e6;
            System.out.println(millis + " " + (ProcessSize.residentBytes() - before) + " " + bits);
        }
    }

    private static float[] noise() {
        Random random = new Random(1);
        float[] values = new float[(int) IMAGE.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = random.nextFloat();
        }
        return values;
    }

    private static Criteria<NDList, NDList> criteria(String[] arguments) {
        Criteria.Builder<NDList, NDList> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optEngine("TFLite")
                        .optModelPath(Path.of(arguments[0]));
        if (arguments.length == 1) {
            return criteria.optOption("numThreads", "1")
                    .optTranslator(new NoopTranslator())
                    .build();
        }
        for (String option : arguments) {
            int equals = option.indexOf('=');
            if (equals > 0) {
                criteria.optArgument(option.substring(0, equals), option.substring(equals + 1));
            }
        }
        return criteria.optTranslatorFactory(PlannedTranslatorFactory.wrap(new NoopTranslator()))
                .build();
    }
}
