package org.djlplan.memplan.internal.djl.liveness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.index.dim.NDIndexBooleans;
import ai.djl.ndarray.index.dim.NDIndexTake;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.djlplan.memplan.testing.FakeArrays;
import org.junit.jupiter.api.Test;

class OperandsTest {

    private final NDManager root = FakeArrays.manager(FakeArrays.manager());
    private final NDArray own = array(1);
    private final NDArray other = array(2);
    private final ArrayProxies proxies =
            new ArrayProxies(new Recorder(new NDList(FakeArrays.bytes(root, 0)), true));
    private final Operands operands = new Operands(Optional.of(own));

    private NDArray array(int value) {
        return FakeArrays.bytes(root, value);
    }

    private NDArray standIn(NDArray array) {
        NDArray made = (NDArray) proxies.proxy(array);
        assertNotSame(array, made);
        return made;
    }

    private Object real(Object argument) {
        return operands.realOf(new Object[] {argument})[0];
    }

    private void assertArrays(List<NDArray> found, NDArray... expected) {
        assertEquals(expected.length, found.size());
        for (int i = 0; i < expected.length; i++) {
            assertSame(expected[i], found.get(i), "array " + i);
        }
    }

    @Test
    void realOf_standIns_theRealOnesInOrderAfterTheMethodsOwn() {
        NDArray third = array(3);
        Object[] reals = operands.realOf(new Object[] {standIn(third), 7, standIn(other)});
        assertSame(third, reals[0]);
        assertEquals(7, reals[1]);
        assertSame(other, reals[2]);
        assertArrays(operands.arrays(), own, third, other);
        assertFalse(operands.opaque());
    }

    @Test
    void realOf_listOfStandIns_aNewListOfRealOnes() {
        NDList given = new NDList(standIn(other), array(3));
        NDList reals = assertInstanceOf(NDList.class, real(given));
        assertNotSame(given, reals);
        assertSame(other, reals.get(0));
        assertNotSame(other, given.get(0));
        assertArrays(operands.arrays(), own, other, given.get(1));
    }

    @Test
    void realOf_arrayOfStandIns_keepsItsElementType() {
        NDArray[] reals = assertInstanceOf(NDArray[].class, real(new NDArray[] {standIn(other)}));
        assertSame(other, reals[0]);
    }

    @Test
    void realOf_listsInLists_areLookedInto() {
        List<?> reals = (List<?>) real(Arrays.asList("x", null, List.of(standIn(other))));
        assertEquals("x", reals.get(0));
        assertSame(other, ((List<?>) reals.get(2)).get(0));
        assertFalse(operands.opaque());
    }

    /** The index stays the block's own object, because the block may use it again. */
    @Test
    void realOf_indexThatHoldsArrays_exposesThem() {
        NDArray mask = array(3);
        NDIndex index = new NDIndex();
        index.getIndices().add(new NDIndexTake(standIn(other)));
        index.getIndices().add(new NDIndexBooleans(standIn(mask)));
        assertSame(index, real(index));
        assertArrays(operands.exposed(), other, mask);
        assertArrays(operands.arrays(), own, other, mask);
        assertSame(other, ((NDIndexTake) index.getIndices().get(0)).getIndex());
        assertFalse(operands.opaque());
    }

    @Test
    void realOf_indexOfNumbers_exposesNothing() {
        real(new NDIndex("0, 1:3"));
        assertArrays(operands.exposed());
        assertArrays(operands.arrays(), own);
    }

    @Test
    void opaque_whatMayHoldArraysUnseen_yes() {
        Function<NDArray, NDArray> function = array -> other;
        for (Object argument : List.of(function, Optional.of(other), new Object())) {
            Operands fresh = new Operands(Optional.empty());
            fresh.realOf(new Object[] {argument});
            assertTrue(fresh.opaque(), argument.toString());
        }
        Operands nested = new Operands(Optional.empty());
        nested.realOf(new Object[] {List.of(1, List.of(new Object()))});
        assertTrue(nested.opaque());
    }

    @Test
    void understood_whatHoldsNoArrays_yes() {
        List<Object> plain =
                new ArrayList<>(
                        List.of(
                                1L,
                                true,
                                'c',
                                "text",
                                DataType.INT8,
                                new Shape(1),
                                new float[1],
                                ByteBuffer.allocate(1),
                                Path.of("x"),
                                Optional.empty()));
        plain.add(null);
        plain.forEach(object -> assertTrue(Operands.understood(object), "" + object));
        assertFalse(Operands.understood(Optional.of(1)));
        assertFalse(Operands.understood(new Object()));
    }
}
