package org.djlplan.memplan.internal.djl;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import java.util.Collections;
import org.djlplan.memplan.errors.InputTooLargeException;
import org.djlplan.memplan.testing.FakeArrays;
import org.junit.jupiter.api.Test;

class InputLimitTest {

    private final NDManager manager = FakeArrays.manager();
    private final InputLimit limit = new InputLimit("the model");

    private void assertRefused(NDArray... inputs) {
        InputTooLargeException e =
                assertThrows(InputTooLargeException.class, () -> limit.check(new NDList(inputs)));
        assertTrue(e.getMessage().contains("the model"), e::getMessage);
    }

    @Test
    void check_numbers_countsTheirBytes() {
        NDArray numbers = FakeArrays.array(manager, DataType.FLOAT32, 5, 5);
        limit.setMostBytes(100);
        limit.check(new NDList(numbers));
        limit.setMostBytes(99);
        assertRefused(numbers);
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
    void check_manyStringsBesideNumbers_countsBoth() {
        String[] thousand = Collections.nCopies(1000, "").toArray(String[]::new);
        limit.setMostBytes(100);
        assertRefused(
                FakeArrays.strings(manager, thousand),
                FakeArrays.array(manager, DataType.FLOAT32, 100));
    }

    @Test
    void check_stringsThatCannotBeRead_countsOneByteEach() {
        limit.setMostBytes(8);
        limit.check(new NDList(FakeArrays.array(manager, DataType.STRING, 2, 2, 2)));
        assertRefused(FakeArrays.array(manager, DataType.STRING, 3, 3));
    }

    @Test
    void check_longDimension_isRefused() {
        limit.setLongestDimension(3);
        limit.check(new NDList(FakeArrays.array(manager, DataType.FLOAT32, 3, 3)));
        assertRefused(FakeArrays.array(manager, DataType.FLOAT32, 1, 4));
    }
}
