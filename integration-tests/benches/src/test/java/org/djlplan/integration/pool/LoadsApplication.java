package org.djlplan.integration.pool;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.djlplan.memplan.PlannedTranslatorFactory;

/**
 * Loads one file many times, as parts of an application do that do not know each other, predicts
 * once with each model, and prints the memory that this took.
 *
 * <p>Usage: {@code ENGINE MODEL LOADS SHAPE...}, with options as system properties, such as {@code
 * -Ddjlplan.memplan.shared=true}. A shape is that of an input of zeros, such as {@code 1,512}, or
 * {@code rate} for the scalar 16000.
 */
public final class LoadsApplication {

    private static final double MEGA = 1e6;
    private static final long RATE = 16_000;

    private LoadsApplication() {}

    public static void main(String[] arguments) throws Exception {
        long idle = 0;
        int loads = Integer.parseInt(arguments[2]);
        List<ZooModel<NDList, NDList>> models = new ArrayList<>();
        long since = System.nanoTime();
        for (int i = 0; i < loads; i++) {
            models.add(
                    Criteria.builder()
                            .setTypes(NDList.class, NDList.class)
                            .optEngine(arguments[0])
                            .optModelPath(Path.of(arguments[1]))
                            .optTranslatorFactory(
                                    PlannedTranslatorFactory.wrap(new NoopTranslator()))
                            .build()
                            .loadModel());
            predict(models.get(i), Arrays.asList(arguments).subList(3, arguments.length));
            idle = i == 0 ? status("VmRSS:") : idle;
        }
        System.out.printf(
                "%d loads in %.1f s: %.1f MB after the first, %.1f MB after the last, %.1f MB at most%n",
                loads,
                (System.nanoTime() - since) / 1e9,
                idle / MEGA,
                status("VmRSS:") / MEGA,
                status("VmHWM:") / MEGA);
        models.forEach(ZooModel::close);
    }

    private static void predict(ZooModel<NDList, NDList> model, List<String> shapes)
            throws Exception {
        try (Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            NDList inputs = new NDList();
            for (String shape : shapes) {
                inputs.add(
                        shape.equals("rate")
                                ? manager.create(RATE)
                                : manager.zeros(
                                        new Shape(
                                                Arrays.stream(shape.split(",", -1))
                                                        .mapToLong(Long::parseLong)
                                                        .toArray()),
                                        DataType.FLOAT32));
            }
            predictor.predict(inputs).close();
        }
    }

    private static long status(String field) throws Exception {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            return lines.filter(line -> line.startsWith(field))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
                    .findFirst()
                    .orElseThrow();
        }
    }
}
