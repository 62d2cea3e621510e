package org.djlplan.memplan.internal.djl.liveness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrayAdapter;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.nio.ByteBuffer;
import java.util.List;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.source.block.BlockRecording;
import org.djlplan.memplan.testing.FakeArrays;
import org.junit.jupiter.api.Test;

class CreatedArraysTest {

    private static final int MEGA_FLOATS = 1 << 20;

    private final NDManager model = FakeArrays.manager(FakeArrays.manager());
    private final NDManager root = FakeArrays.manager(model);
    private final CreatedArrays arrays = new CreatedArrays(root);

    /** An array with a field for a direct buffer, as PyTorch's arrays have it. */
    private static final class Array extends NDArrayAdapter {

        private ByteBuffer dataRef;

        Array(NDManager manager, DataType type, long... shape) {
            super(manager, null, new Shape(shape), type, "array");
        }

        @Override
        public void intern(NDArray replaced) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void detach() {
            throw new UnsupportedOperationException();
        }

        @Override
        public ByteBuffer toByteBuffer() {
            return dataRef;
        }

        void move(NDManager owner) {
            manager = owner;
        }

        @Override
        public void close() {
            isClosed = true;
        }
    }

    private Array create(NDManager manager, DataType type) {
        Array array = new Array(manager, type, 3);
        arrays.add(array, false, false);
        return array;
    }

    private Array create() {
        return create(root, DataType.FLOAT32);
    }

    private CreatedArray data(NDArray array) {
        return arrays.find(array).orElseThrow();
    }

    private boolean closes(NDArray array) {
        arrays.close(data(array));
        return array.isReleased();
    }

    private List<Boolean> kept() {
        return arrays.recorded().stream().map(BlockRecording.Array::kept).toList();
    }

    @Test
    void close_existsForThePassOnly_isClosedOnce() {
        Array array = create();
        assertTrue(closes(array));
        arrays.close(data(array));
        assertEquals(1, arrays.closed());
        assertEquals(
                List.of(new BlockRecording.Array(new ArrayType("float32", List.of(3L)), false, "")),
                arrays.recorded());
    }

    @Test
    void close_mayLiveOn_staysOpen() {
        Array unseen = new Array(root, DataType.FLOAT32, 3);
        arrays.add(unseen, false, true);
        Array kept = create();
        data(kept).keep();
        Array direct = create();
        direct.dataRef = ByteBuffer.allocateDirect(4);
        Array text = create(root, DataType.STRING);
        Array attached = create(root, DataType.FLOAT32);
        attached.move(model);
        Array exposed = create();
        data(exposed).expose();
        for (NDArray array : List.of(unseen, kept, direct, text, attached, exposed)) {
            assertFalse(closes(array));
        }
        assertEquals(0, arrays.closed());
        assertEquals(
                List.of(true, true, true, true, true, false), kept(), "exposure ends with a pass");
    }

    @Test
    void add_classIsUnknown_isKept() {
        NDArray proxy = FakeArrays.array(root, DataType.FLOAT32, 3);
        arrays.add(proxy, false, false);
        assertFalse(closes(proxy));
        assertEquals(List.of(true), kept());
    }

    @Test
    void keepElsewhereSince_managerOfTheModel_isKept() {
        Array before = create(model, DataType.FLOAT32);
        Array inside = create();
        Array outside = create(model, DataType.FLOAT32);
        arrays.keepElsewhereSince(1);
        assertTrue(closes(inside));
        assertFalse(closes(outside));
        assertFalse(data(before).isClosed());
        assertEquals(List.of(false, false, true), kept());
    }

    @Test
    void keepSince_onlyLaterOnes() {
        Array before = create();
        Array after = create();
        arrays.keepSince(1);
        assertTrue(closes(before));
        assertFalse(closes(after));
    }

    @Test
    void find_otherArrayWithTheSameContent_isNotFound() {
        Array array = create();
        assertEquals(0, data(array).number());
        assertTrue(arrays.find(new Array(root, DataType.FLOAT32, 3)).isEmpty());
        assertEquals(1, arrays.count());
    }

    @Test
    void isInForeignMemory_isKnownWhenTheOperationEnds() {
        Array array = create();
        assertFalse(data(array).isInForeignMemory());
        data(array).completed(true);
        assertTrue(data(array).isInForeignMemory());
        Array unseen = new Array(root, DataType.FLOAT32, 3);
        arrays.add(unseen, false, true);
        assertTrue(data(unseen).isInForeignMemory());
    }

    @Test
    void reclaim_muchIsAlive_closesWhatIsNotNeeded() {
        Array[] large = new Array[5];
        for (int i = 0; i < large.length; i++) {
            assertFalse(arrays.isReclaimDue());
            large[i] = new Array(root, DataType.FLOAT32, MEGA_FLOATS);
            arrays.add(large[i], false, false);
        }
        assertTrue(arrays.isReclaimDue());
        arrays.reclaim(array -> array == large[0]);
        assertFalse(arrays.isReclaimDue());
        assertFalse(large[0].isReleased());
        assertTrue(large[4].isReleased());
        assertEquals(4, arrays.closed());
    }

    @Test
    void isReclaimDue_arraysShareMemory_countsItOnce() {
        for (int i = 0; i < 32; i++) {
            arrays.add(new Array(root, DataType.FLOAT32, MEGA_FLOATS), true, false);
        }
        assertFalse(arrays.isReclaimDue());
    }
}
