package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.OutputAgreement;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests which operators of 8-bit models djl-plan delegates by default, and by which criterion it
 * accepts their outputs.
 */
@Tag("djl-current")
class QuantizedDelegationTest {

    private static final int CLASSES = 1001;

    /** The largest accepted difference of quantized outputs, in steps. */
    private static final int MOST_STEPS = 16;

    /** Operators between the mean and the softmax. */
    private static final int LAST = 3;

    @TempDir Path folder;

    /** The delegate can take all operators except the mean and the softmax. */
    @CsvSource({"mobilenet_v1_uint8_64, 29", "mobilenet_v2_int8_64, 64"})
    @ParameterizedTest
    void load_smallImages_delegatesAlmostAll(String name, int operators) throws Exception {
        assertDelegated(name, 64, operators);
    }

    @Tag("long")
    @CsvSource({"mobilenet_v1_int8_64, 29", "efficientnet_lite_int8_64, 60"})
    @ParameterizedTest
    void load_smallImagesInOtherNetworks_delegatesAlmostAll(String name, int operators)
            throws Exception {
        assertDelegated(name, 64, operators);
    }

    @Tag("long")
    @Test
    void load_usualImages_delegatesAlmostAll() throws Exception {
        assertDelegated("mobilenet_v1_uint8", 224, 29);
    }

    private void assertDelegated(String name, int side, int operators) throws Exception {
        Path file = Files.copy(TestModels.built(name), folder.resolve(name + ".tflite"));
        byte[] image = new byte[side * side * 3];
        new Random(5).nextBytes(image);
        DataType type = name.contains("uint8") ? DataType.UINT8 : DataType.INT8;
        byte[] kernels;
        try (ZooModel<NDList, NDList> model = load(file, false)) {
            kernels = scores(model, image, side, type);
        }
        try (ZooModel<NDList, NDList> model = load(file, true)) {
            DelegationReport report = PlanReport.of(model).orElseThrow().delegation().orElseThrow();
            // The last operators are a partition of their own, whose benefit was measured.
            assertTrue(report.delegatedOperators() >= operators - LAST, report::toString);
            assertEquals(1, report.outputs().size());
            OutputAgreement output = report.outputs().get(0);
            assertTrue(output.difference() <= output.limit(), report::toString);
            byte[] delegated = scores(model, image, side, type);
            assertEquals(CLASSES, delegated.length);
            for (int i = 0; i < CLASSES; i++) {
                int steps = Math.abs((byte) (kernels[i] - delegated[i]));
                assertTrue(steps <= MOST_STEPS, steps + " steps");
            }
        }
    }

    private static ZooModel<NDList, NDList> load(Path file, boolean delegate) throws Exception {
        return Criteria.builder()
                .setTypes(NDList.class, NDList.class)
                .optEngine("TFLite")
                .optModelPath(file)
                .optTranslatorFactory(new PlannedTranslatorFactory())
                .optArgument("delegation.enabled", delegate)
                .optArgument("delegation.profile", "blocking")
                .optArgument("memplan.threads", 1)
                .build()
                .loadModel();
    }

    private static byte[] scores(
            ZooModel<NDList, NDList> model, byte[] image, int side, DataType type)
            throws Exception {
        try (Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            Shape shape = new Shape(1, side, side, 3);
            NDList input = new NDList(manager.create(ByteBuffer.wrap(image), shape, type));
            return predictor.predict(input).head().toByteArray();
        }
    }
}
