package org.djlplan.integration.delegation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.FileRegion;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that no delegate serves a file, or inputs, for which it was not verified. */
@Tag("djl-current")
class OtherInputsTest {

    private static final int SIDE = 96;
    private static final List<List<Integer>> SHAPES = List.of(List.of(1, SIDE, SIDE, 8));
    private static final float BOUND = 6;

    @TempDir private Path folder;

    private static DelegationReport report(ZooModel<NDList, NDList> model) {
        return PlanReport.of(model).orElseThrow().delegation().orElseThrow();
    }

    private static Map<String, String> options(String profile) {
        return Map.of("delegation.profile", profile, "memplan.threads", "1");
    }

    /** Copies a model with zeros instead of weights, for which any delegate computes the same. */
    private static Path withoutWeights(Path file) throws Exception {
        byte[] bytes = Files.readAllBytes(file);
        Graph graph = TfLiteGraphs.toGraph(TfLiteReader.read(file), "copy");
        for (Tensor tensor : graph.tensors()) {
            if (tensor.storage() == Storage.CONSTANT && tensor.type() == ElementType.FLOAT32) {
                FileRegion region = tensor.region().orElseThrow();
                int begin = Math.toIntExact(region.offsetBytes());
                Arrays.fill(bytes, begin, begin + Math.toIntExact(region.lengthBytes()), (byte) 0);
            }
        }
        return Files.write(file.resolveSibling("other.tflite"), bytes);
    }

    /** With this tolerance, a delegate is accepted only for the file without weights. */
    @Test
    void load_fileIsReplacedBeforeItIsMeasured_nothingIsDelegated() throws Exception {
        Path file = ModelCopy.of("mobilenet_v2", folder);
        Path other = withoutWeights(file);
        Map<String, String> options = new HashMap<>(options("background:3s"));
        options.put("delegation.tolerance", "1e-12");
        try (StockInterpreter stock = new StockInterpreter(file, 1);
                ZooModel<NDList, NDList> model = Planned.load(file, options)) {
            Files.move(other, file, StandardCopyOption.ATOMIC_MOVE);
            Await.until(() -> !report(model).reason().contains("it is being measured"));
            assertEquals(0, report(model).delegatedOperators(), report(model).toString());
            String reason = report(model).reason();
            assertTrue(reason.contains("was replaced or changed since it was loaded"), reason);
            List<ByteBuffer> values = stock.randomInputs(1);
            assertEquals(stock.run(values), Planned.predict(model, values, stock.shapes()));
            assertFalse(ModelCopy.hasProfile(file));
        }
    }

    /** Writes a network whose delegate computes NaN instead of 6 for one value. */
    private Path infiniteAt(float value) throws Exception {
        ModelSketch sketch = new ModelSketch();
        int[] shape = {1, SIDE, SIDE, 8};
        int x = sketch.input(ElementType.FLOAT32, shape);
        int distance =
                sketch.floatOperator(
                        "ABS",
                        shape,
                        sketch.floatOperator("SUB", shape, x, sketch.floats(new int[] {1}, value)));
        int root = sketch.floatOperator("RSQRT", shape, distance);
        return sketch.output(sketch.floatOperator("RELU6", shape, root))
                .write(Files.createTempDirectory(folder, "infinite").resolve("model.tflite"));
    }

    private static List<ByteBuffer> filled(float value) {
        ByteBuffer values =
                ByteBuffer.allocateDirect(SIDE * SIDE * 8 * Float.BYTES)
                        .order(ByteOrder.nativeOrder());
        while (values.hasRemaining()) {
            values.putFloat(value);
        }
        return List.of(values.rewind());
    }

    private static void assertBounded(ZooModel<NDList, NDList> model, float value)
            throws Exception {
        assertEquals(
                filled(BOUND),
                Planned.predict(model, filled(value), SHAPES),
                report(model)::toString);
    }

    @Test
    void load_delegateComputesNanForZeros_isNotAccepted() throws Exception {
        Path file = infiniteAt(0);
        try (ZooModel<NDList, NDList> model = Planned.load(file, options("blocking:3s"))) {
            assertEquals(Origin.MEASURED, report(model).origin());
            assertBounded(model, 0);
        }
    }

    @Test
    void switchTo_delegateComputesNanForARequest_isNotAccepted() throws Exception {
        Path file = infiniteAt(0.25f);
        try (ZooModel<NDList, NDList> model = Planned.load(file, options("background:3s"))) {
            assertBounded(model, 0.25f);
            Await.until(() -> report(model).origin() == Origin.MEASURED);
            assertBounded(model, 0.25f);
            // Beside other work the CPU kernels may be chosen for their speed.
            boolean withdrawn = report(model).reason().contains("for a request");
            Await.until(() -> !withdrawn || isWithdrawn(file));
        }
        try (ZooModel<NDList, NDList> model = Planned.load(file, options("off"))) {
            assertEquals(Origin.STORED, report(model).origin(), report(model)::toString);
            assertBounded(model, 0.25f);
        }
    }

    /** Returns whether the stored result says that a request was computed differently. */
    private static boolean isWithdrawn(Path file) throws IOException {
        try (Stream<Path> stored = Files.list(file.resolveSibling(".djlplan"))) {
            for (Path each : stored.filter(f -> f.toString().endsWith(".profile.json")).toList()) {
                if (Files.readString(each).contains("for a request of the application")) {
                    return true;
                }
            }
        }
        return false;
    }

    /** The first answer may be NaN. In TensorFlow Lite 2.6.2, XNNPACK has no RSQRT. */
    @Test
    void predict_delegateComputesNanForAServedRequest_isWithdrawn() throws Exception {
        Path file = infiniteAt(0.25f);
        try (ZooModel<NDList, NDList> model = Planned.load(file, options("blocking:3s"))) {
            if (!filled(BOUND).equals(Planned.predict(model, filled(0.25f), SHAPES))) {
                Await.until(() -> isWithdrawn(file));
                assertEquals(0, report(model).delegatedOperators(), report(model)::toString);
            }
            assertBounded(model, 0.25f);
        }
        try (ZooModel<NDList, NDList> model = Planned.load(file, options("off"))) {
            assertEquals(Origin.STORED, report(model).origin(), report(model)::toString);
            assertBounded(model, 0.25f);
        }
    }
}
