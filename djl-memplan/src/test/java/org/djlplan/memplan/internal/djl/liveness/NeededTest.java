package org.djlplan.memplan.internal.djl.liveness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import java.util.ArrayList;
import java.util.List;
import org.djlplan.memplan.testing.FakeArrays;
import org.junit.jupiter.api.Test;

class NeededTest {

    private final NDManager manager = FakeArrays.manager();
    private final NDArray one = FakeArrays.bytes(manager, 1, 2);
    private final NDArray twin = FakeArrays.bytes(manager, 1, 2);

    @Test
    void contains_equalContent_isNotTheSameArray() {
        assertEquals(one, twin);
        Needed needed = Needed.nothing().and(List.of(one));
        assertTrue(needed.contains(one));
        assertFalse(needed.contains(twin));
    }

    @Test
    void and_more_keepsThoseFurtherOut() {
        Needed outer = Needed.nothing().and(List.of(one));
        Needed inner = outer.and(List.of(twin)).and(List.of());
        assertTrue(inner.contains(one));
        assertTrue(inner.contains(twin));
        assertFalse(outer.contains(twin));
        assertFalse(Needed.nothing().contains(one));
    }

    @Test
    void and_listThatChangesLater_isCopied() {
        List<NDArray> arrays = new ArrayList<>(List.of(one));
        Needed needed = Needed.nothing().and(arrays);
        arrays.set(0, twin);
        assertTrue(needed.contains(one));
        assertFalse(needed.contains(twin));
    }
}
