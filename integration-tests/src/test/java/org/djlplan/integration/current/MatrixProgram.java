package org.djlplan.integration.current;

import ai.djl.engine.Engine;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import com.google.gson.JsonObject;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.internal.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.base.Throwables;

/**
 * An application with a model of each engine on its class path, for {@link VersionMatrix}. It runs
 * each model plain and planned, and prints the results as JSON.
 */
final class MatrixProgram {

    private static final int PREDICTIONS = 6;

    private MatrixProgram() {}

    /**
     * Runs models.
     *
     * @param arguments engine, model's file and shape of its input, such as {@code 1,3,32,32}, of
     *     each model
     */
    public static void main(String[] arguments) {
        JsonObject seen = new JsonObject();
        seen.addProperty("djl", Engine.getDjlVersion());
        for (int i = 0; i < arguments.length; i += 3) {
            String engine = arguments[i];
            seen.add(engine, run(engine, Path.of(arguments[i + 1]), shape(arguments[i + 2])));
        }
        System.out.println(seen);
    }

    private static Shape shape(String text) {
        List<Long> dimensions = new ArrayList<>();
        for (String each : text.split(",", -1)) {
            dimensions.add(Long.valueOf(each));
        }
        return new Shape(dimensions);
    }

    private static JsonObject run(String engine, Path file, Shape shape) {
        JsonObject seen = new JsonObject();
        try {
            List<ByteBuffer> expected;
            try (ZooModel<NDList, NDList> plain = criteria(engine, file).build().loadModel()) {
                expected = predict(plain, shape);
            }
            PlannedTranslatorFactory factory =
                    new PlannedTranslatorFactory().with("delegation.enabled", false);
            try (ZooModel<NDList, NDList> planned =
                    criteria(engine, file).optTranslatorFactory(factory).build().loadModel()) {
                seen.addProperty("same", predict(planned, shape).equals(expected));
                PlanReport report = PlanReport.of(planned).orElseThrow();
                seen.addProperty(
                        "planned",
                        report.planned()
                                && report.predictions().total() == PREDICTIONS
                                && report.predictions().unplanned() < PREDICTIONS);
            }
            seen.addProperty("version", version(engine));
            seen.addProperty(
                    "torchMapped",
                    Files.readString(Path.of("/proc/self/maps")).contains("libtorch"));
        } catch (Exception | LinkageError e) {
            seen.addProperty("error", Throwables.getStackTraceAsString(e));
        }
        return seen;
    }

    /** DJL's own TFLite engine does not report its library's version. */
    private static String version(String engine) throws UnplannableException {
        return engine.equals(VersionMatrix.TFLITE)
                ? EngineLibrary.loaded().version()
                : Engine.getEngine(engine).getVersion();
    }

    private static Criteria.Builder<NDList, NDList> criteria(String engine, Path file) {
        return Criteria.builder()
                .setTypes(NDList.class, NDList.class)
                .optEngine(engine)
                .optModelPath(file);
    }

    /** Returns the bytes of all outputs of some random inputs. */
    private static List<ByteBuffer> predict(ZooModel<NDList, NDList> model, Shape shape)
            throws Exception {
        List<ByteBuffer> bytes = new ArrayList<>();
        Random random = new Random(1);
        try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
            for (int i = 0; i < PREDICTIONS; i++) {
                ByteBuffer values = ByteBuffer.allocateDirect((int) shape.size() * Float.BYTES);
                values.order(ByteOrder.nativeOrder());
                while (values.hasRemaining()) {
                    values.putFloat(random.nextFloat());
                }
                values.rewind();
                try (NDArray input = model.getNDManager().create(values, shape, DataType.FLOAT32);
                        NDList outputs = predictor.predict(new NDList(input))) {
                    for (NDArray output : outputs) {
                        bytes.add(ByteBuffer.wrap(output.toByteArray()));
                    }
                }
            }
        }
        return bytes;
    }
}
