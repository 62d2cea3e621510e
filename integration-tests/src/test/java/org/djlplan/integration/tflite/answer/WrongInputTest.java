package org.djlplan.integration.tflite.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.TestModels;
import org.djlplan.thirdparty.guava.base.Throwables;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests inputs of a wrong type, count or shape, some of which have the right number of bytes: an
 * error names the input, the expected type or shape, and the given one.
 */
class WrongInputTest {

    private static final int SIDE = 128;
    private static final int ELEMENTS = SIDE * SIDE * 3;
    private static final String WANTED = "input input is FLOAT32 of shape [1, 128, 128, 3]";

    @TempDir private Path folder;

    /** Returns the options of a way to run the model, as users write them. */
    private static Map<String, ?> options(String way) {
        return switch (way) {
            case "planned" -> Map.of();
            case "budgeted" -> Map.of("memplan.budget", "1KB:best-effort");
            case "delegated" -> Map.of("delegation.profile", "blocking:1s");
            default -> throw new IllegalArgumentException(way);
        };
    }

    private Path copied() throws Exception {
        return Files.copy(TestModels.built("blaze_face"), folder.resolve("model.tflite"));
    }

    private static ByteBuffer value(int bytes) {
        ByteBuffer value = ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
        for (int i = 0; i + 4 <= bytes; i += 4) {
            value.putFloat(i, i % 255 / 255f);
        }
        return value;
    }

    private static NDList array(NDManager manager, DataType type, long... shape) {
        Shape given = new Shape(shape);
        return new NDList(
                manager.create(value((int) given.size() * type.getNumOfBytes()), given, type));
    }

    private static void assertRefused(
            Predictor<NDList, NDList> predictor, NDList list, String... words) {
        TranslateException e =
                assertThrows(TranslateException.class, () -> predictor.predict(list));
        String message = Throwables.getRootCause(e).getMessage();
        for (String word : words) {
            assertTrue(message.contains(word), () -> message + " without " + word);
        }
    }

    private static void assertWrongInputsRefused(ZooModel<NDList, NDList> model) throws Exception {
        try (Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            NDList right = array(manager, DataType.FLOAT32, 1, SIDE, SIDE, 3);
            ByteBuffer expected = copy(predictor.predict(right));
            NDList whole = array(manager, DataType.INT32, 1, SIDE, SIDE, 3);
            assertRefused(predictor, whole, WANTED, "INT32", "(1, 128, 128, 3)");
            NDList unsigned = array(manager, DataType.UINT8, 1, SIDE, SIDE, 3);
            assertRefused(predictor, unsigned, WANTED, "UINT8");
            NDList sameBytes = array(manager, DataType.INT8, 4, SIDE, SIDE, 3);
            assertRefused(predictor, sameBytes, WANTED, "INT8");
            for (int batch : new int[] {1, 2}) {
                NDList turned = array(manager, DataType.FLOAT32, batch, 3, SIDE, SIDE);
                assertRefused(predictor, turned, WANTED, "[" + batch + ", 3, 128, 128]");
            }
            NDList flat = array(manager, DataType.FLOAT32, ELEMENTS);
            assertRefused(predictor, flat, WANTED, "[" + ELEMENTS + "]");
            String one = " inputs were given, the model has 1: input FLOAT32[1, 128, 128, 3]";
            assertRefused(predictor, new NDList(right.head(), right.head()), "2" + one);
            assertRefused(predictor, new NDList(), "0" + one);
            NDList withoutBatch = array(manager, DataType.FLOAT32, SIDE, SIDE, 3);
            for (NDList given : List.of(right, withoutBatch, right)) {
                assertEquals(expected, copy(predictor.predict(given)));
            }
        }
    }

    private static ByteBuffer copy(NDList outputs) {
        return Planned.copy(outputs.head().toByteBuffer());
    }

    @OnEveryDjl
    @ParameterizedTest
    @ValueSource(strings = {"planned", "budgeted", "delegated"})
    void predict_wrongInput_isAnErrorThatNamesIt(String way) throws Exception {
        try (ZooModel<NDList, NDList> model = Planned.load(copied(), options(way))) {
            assertWrongInputsRefused(model);
        }
    }

    /** DJL's own engine accepts such inputs without an error. */
    @Tag("djl-current")
    @Test
    void predict_wrongInputOfOurPlainEngine_isAnErrorThatNamesIt() throws Exception {
        try (ZooModel<NDList, NDList> model = Planned.loadStock(copied())) {
            assertWrongInputsRefused(model);
        }
    }
}
