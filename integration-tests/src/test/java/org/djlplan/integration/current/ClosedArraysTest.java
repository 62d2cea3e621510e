package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.NDScope;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import org.junit.jupiter.api.Test;

/** Tests when arrays of djl-plan's engine are closed: by their manager, a scope, or the caller. */
final class ClosedArraysTest extends OwnArrays {

    @Test
    void scope_end_closesItsArraysAndNoOthers() {
        NDArray before = counted(2);
        NDArray inside;
        NDArray result;
        NDArray kept;
        try (NDScope scope = new NDScope()) {
            scope.suppressNotUsedWarning();
            inside = counted(2);
            result = before.add(inside);
            kept = inside.get("1:");
            NDScope.unregister(kept);
        }
        NDArray closed = inside;
        assertThrows(IllegalStateException.class, closed::toFloatArray);
        assertTrue(result.isReleased());
        assertValues(kept, new Shape(1), 1);
        assertValues(before.add(before), new Shape(2), 0, 2);
    }

    @Test
    void close_manager_closesItsArraysAndDetachedOnesStay() {
        NDArray kept;
        NDArray gone;
        try (NDManager sub = manager.newSubManager()) {
            gone = sub.create(1f);
            kept = sub.create(2f);
            kept.attach(manager);
            assertEquals(1, sub.getManagedArrays().size());
        }
        assertThrows(IllegalStateException.class, gone::toFloatArray);
        assertEquals(2, kept.getFloat());
        assertValues(kept.add(kept), new Shape(), 4);
        kept.detach();
        NDArray detached = kept;
        assertTrue(manager.getManagedArrays().stream().noneMatch(array -> array == detached));
        assertEquals(2, kept.getFloat());
        kept.close();
    }

    @Test
    void newSubManager_ofACappedOne_isOpen() {
        manager.cap();
        try (NDManager below = manager.newSubManager()) {
            assertValues(below.create(7), new Shape(), 7);
        }
        assertThrows(IllegalStateException.class, () -> manager.create(7));
    }

    private static void closeAll(NDArray... arrays) {
        new NDList(arrays).close();
    }

    @Test
    void operations_often_leaveNothingInTheManager() {
        NDArray a = counted(2, 3);
        NDArray row = manager.create(new float[] {1, 2, 3});
        NDArray whole = manager.create(new int[] {1, 2, 3});
        NDArray wholeToo = manager.create(new int[] {4, 5, 6});
        NDArray turned = counted(3, 2).transpose();
        int before = manager.getManagedArrays().size();
        for (int i = 0; i < 100; i++) {
            a.addi(row).subi(turned).muli(whole).divi(row);
            a.addi(1).subi(2.5).muli(3).divi(4L);
            a.set(new NDIndex("0"), whole);
            a.set(new NDIndex("1, 1"), 7);
            a.set(new NDIndex("1"), part -> part);
            a.setScalar(new NDIndex("0, 0"), 0.5);
            turned.get("0").close();
            closeAll(a.add(turned), a.sub(1), a.mul(whole), whole.div(2), turned.reshape(6));
            closeAll(turned.sum(), turned.sum(new int[] {0}, true), turned.max(), a.argMax());
            closeAll(turned.clip(1, 2), turned.sqrt(), turned.exp(), turned.softmax(0));
            closeAll(NDArrays.concat(new NDList(a, turned)), NDArrays.stack(new NDList(a, turned)));
            closeAll(NDArrays.concat(new NDList(whole, row)), turned.toType(DataType.INT32, false));
            assertTrue(turned.contentEquals(turned) && !row.contentEquals(1));
            assertEquals(6, turned.toFloatArray().length);
            if (Engine.hasEngine("PyTorch")) {
                closeAll(whole.mod(wholeToo));
            }
        }
        assertEquals(before, manager.getManagedArrays().size());
    }
}
