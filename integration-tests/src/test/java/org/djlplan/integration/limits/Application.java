package org.djlplan.integration.limits;

import ai.djl.Model;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.LambdaBlock;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslatorFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;

/**
 * An application that predicts and ends. It links only to the JDK and DJL. It refers to djl-plan by
 * names, because classes of djl-plan may be missing.
 */
public final class Application {

    static final String NETWORK = "network";

    private static final int PREDICTIONS = 4;
    private static final String FACTORY = "org.djlplan.memplan.PlannedTranslatorFactory";
    private static final String REPORT = "org.djlplan.memplan.report.PlanReport";

    private Application() {}

    /** Prints what {@link #run} returns. */
    public static void main(String[] arguments) throws Exception {
        System.out.println(run(arguments));
    }

    /**
     * Predicts some times.
     *
     * @param arguments {@code stock} or {@code planned}, engine, file or, for {@link #network()},
     *     folder of the model, shape of its one input, and options such as {@code key=value}
     * @return a hash of the outputs and, separated by spaces, if it was planned: whether the report
     *     says so, and how many predictions were recorded
     */
    public static String run(String[] arguments) throws Exception {
        Criteria.Builder<NDList, NDList> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optEngine(arguments[1])
                        .optModelPath(Path.of(arguments[2]));
        if (Files.isDirectory(Path.of(arguments[2]))) {
            criteria.optModelName(NETWORK).optBlock(network());
        }
        boolean planned = arguments[0].equals("planned");
        if (planned) {
            ClassLoader loader = Application.class.getClassLoader();
            criteria.optTranslatorFactory(
                    (TranslatorFactory) loader.loadClass(FACTORY).getConstructor().newInstance());
            if (arguments[1].equals("TFLite")) {
                criteria.optArgument("delegation.enabled", "false");
            }
        }
        for (String option : Arrays.asList(arguments).subList(4, arguments.length)) {
            int equals = option.indexOf('=');
            criteria.optArgument(option.substring(0, equals), option.substring(equals + 1));
        }
        Shape shape =
                new Shape(
                        Arrays.stream(arguments[3].split(","))
                                .mapToLong(Long::parseLong)
                                .toArray());
        try (ZooModel<NDList, NDList> model = criteria.build().loadModel()) {
            String hash = predict(model, shape);
            return planned ? hash + ' ' + report(model) : hash;
        }
    }

    /** A network of blocks, one of which is the application's own. */
    static Block network() {
        return new SequentialBlock()
                .add(
                        new LambdaBlock(
                                inputs -> new NDList(inputs.singletonOrThrow().square()), "square"))
                .add(Linear.builder().setUnits(64).build())
                .add(Activation.reluBlock())
                .add(Linear.builder().setUnits(10).build());
    }

    private static String predict(ZooModel<NDList, NDList> model, Shape shape) throws Exception {
        int hash = 0;
        try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
            for (int seed = 0; seed < PREDICTIONS; seed++) {
                try (NDManager manager = model.getNDManager().newSubManager()) {
                    NDList outputs = predictor.predict(input(manager, shape, seed));
                    ByteBuffer output = outputs.head().toByteBuffer();
                    byte[] bytes = new byte[output.remaining()];
                    output.get(bytes);
                    hash = 31 * hash + Arrays.hashCode(bytes);
                }
            }
        }
        return String.format(Locale.ROOT, "%08x", hash);
    }

    /** Random values of a seed. */
    static NDList input(NDManager manager, Shape shape, int seed) {
        Random random = new Random(seed);
        float[] values = new float[(int) shape.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = random.nextFloat();
        }
        return new NDList(manager.create(values, shape));
    }

    /** Without djl-plan there may be no report. */
    private static String report(Model model) throws ReflectiveOperationException {
        try {
            Class<?> type = Application.class.getClassLoader().loadClass(REPORT);
            Optional<?> report =
                    (Optional<?>) type.getMethod("of", Model.class).invoke(null, model);
            if (report.isEmpty()) {
                return "none";
            }
            Object predictions = type.getMethod("predictions").invoke(report.get());
            return type.getMethod("planned").invoke(report.get())
                    + " "
                    + predictions.getClass().getMethod("recorded").invoke(predictions);
        } catch (LinkageError | ReflectiveOperationException e) {
            return "none";
        }
    }
}
