package org.djlplan.memplan.internal.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import java.util.Optional;
import java.util.OptionalInt;
import org.djlplan.memplan.errors.InputTooLargeException;
import org.djlplan.memplan.internal.config.RequestOptions;
import org.djlplan.memplan.internal.runtime.InputSizes;
import org.djlplan.memplan.internal.runtime.NeededMemory;
import org.djlplan.memplan.testing.FakeArrays;
import org.junit.jupiter.api.Test;

class InputLimitTest {

    private final NDManager manager = FakeArrays.manager();
    private final NeededMemory needed = new NeededMemory();
    private final InputLimit limit = limit(RequestOptions.UNLIMITED);

    private InputLimit limit(RequestOptions limits) {
        return new InputLimit("the model", limits, Optional.of(needed));
    }

    private void assertRefused(NDArray... inputs) {
        assertTrue(refusal(limit, inputs).startsWith("the model does not take"));
    }

    private static String refusal(InputLimit limit, NDArray... inputs) {
        return assertThrows(InputTooLargeException.class, () -> limit.check(new NDList(inputs)))
                .getMessage();
    }

    @Test
    void check_strings_countsTheirBytes() {
        NDArray strings = FakeArrays.strings(manager, "grün", "", "rot");
        limit.setMostBytes(8);
        limit.check(new NDList(strings));
        limit.setMostBytes(7);
        assertRefused(strings);
    }

    @Test
    void check_stringsThatCannotBeRead_countsOneByteEach() {
        limit.setMostBytes(8);
        limit.check(new NDList(FakeArrays.array(manager, DataType.STRING, 2, 2, 2)));
        assertRefused(FakeArrays.array(manager, DataType.STRING, 3, 3));
    }

    @Test
    void check_suchPredictionNeededTooMuch_isRefusedWithBothFigures() {
        InputLimit limited =
                limit(
                        new RequestOptions(
                                OptionalInt.empty(), 1000, Long.MAX_VALUE, OptionalInt.empty()));
        needed.note(InputSizes.of(new long[] {2, 8}), 1001);
        assertEquals(
                "the model does not take inputs of shapes (3, 8): (2, 8) needed 1001 bytes, and"
                        + " memplan.maxRequest is 1000",
                refusal(limited, FakeArrays.array(manager, DataType.FLOAT32, 3, 8)));
        limited.check(new NDList(FakeArrays.array(manager, DataType.FLOAT32, 20, 7)));
        limited.check(new NDList(FakeArrays.array(manager, DataType.FLOAT32, 16)));
    }
}
