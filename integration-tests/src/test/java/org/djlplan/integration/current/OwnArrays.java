package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.util.Arrays;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.function.Executable;

/** Opens a manager of djl-plan's engine for each test, and makes and checks its arrays. */
@Tag("djl-current")
abstract sealed class OwnArrays permits OwnArraysTest, ClosedArraysTest, ArraysInTranslatorsTest {

    NDManager manager;

    @BeforeEach
    void open() {
        manager = NDManager.newBaseManager(Device.cpu(), "TFLite");
    }

    @AfterEach
    void close() {
        manager.close();
    }

    /** Returns an array of the numbers 0, 1, 2 …. */
    NDArray counted(long... shape) {
        float[] values = new float[(int) new Shape(shape).size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = i;
        }
        return manager.create(values, new Shape(shape));
    }

    static void assertValues(NDArray array, Shape shape, double... values) {
        assertEquals(shape, array.getShape());
        Number[] found = array.toType(DataType.FLOAT64, false).toArray();
        double[] numbers = Arrays.stream(found).mapToDouble(Number::doubleValue).toArray();
        assertArrayEquals(values, numbers, 1e-6);
    }

    static void assertUnsupported(Executable call) {
        assertThrows(UnsupportedOperationException.class, call);
    }

    /**
     * Asserts that a call is computed if PyTorch is present, and otherwise rejected with the
     * dependency's name.
     */
    static void assertComputed(Runnable check) {
        if (Engine.hasEngine("PyTorch")) {
            check.run();
        } else {
            Exception e = assertThrows(UnsupportedOperationException.class, check::run);
            assertTrue(e.getMessage().contains("ai.djl.pytorch:pytorch-engine"), e::getMessage);
        }
    }

    static void assertComputed(Supplier<NDArray> call, Shape shape, double... values) {
        assertComputed(() -> assertValues(call.get(), shape, values));
    }
}
