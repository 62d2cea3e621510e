package org.djlplan.memplan.internal.djl.liveness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.djlplan.memplan.testing.FakeArrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BlockStateTest {

    private static final NDManager MANAGER = FakeArrays.manager();

    /** An object with fields of the types that a block may hold. */
    private static final class Holder {
        private Integer count = 1;
        private StringBuilder text = new StringBuilder("a");
        private NDArray array = FakeArrays.array(MANAGER, DataType.FLOAT32, 2, 3);
        private float[] scales = {1, 2};
        private Thread.State mode = Thread.State.NEW;
        private final AtomicBoolean flag = new AtomicBoolean();
        private final List<Object> list = new ArrayList<>(List.of("x", "y"));
        private Object first = new Object();
        private Object second = first;
    }

    private static final class Statics {
        private static String text = "before";
    }

    private final Holder holder = new Holder();

    @AfterEach
    void resetStatics() {
        Statics.text = "before";
    }

    private BlockState state() {
        return BlockState.of(holder, List.of(Statics.class)).orElseThrow();
    }

    /** Asserts that a change is seen, whichever state is compared with the other. */
    private void assertSeen(String place, Runnable change) {
        BlockState before = state();
        assertEquals(Optional.empty(), before.difference(state()), "not the same twice");
        change.run();
        String where = before.difference(state()).orElse("nowhere");
        assertTrue(where.contains(place), where);
        assertTrue(state().difference(before).isPresent());
    }

    @Test
    void difference_number_seen() {
        assertSeen("count", () -> holder.count = 2);
    }

    @Test
    void difference_textOfTheSameObject_seen() {
        assertSeen("text", () -> holder.text.append('b'));
    }

    @Test
    void difference_flagOfTheSameObject_seen() {
        assertSeen("flag", () -> holder.flag.set(true));
    }

    @Test
    void difference_enumConstant_seen() {
        assertSeen("mode", () -> holder.mode = Thread.State.RUNNABLE);
    }

    @Test
    void difference_elementOfAnArrayOfNumbers_seen() {
        assertSeen("scales", () -> holder.scales[1] = 3);
    }

    @Test
    void difference_arraysWithTheSameHashOfJava_seen() {
        holder.scales = new float[] {Float.intBitsToFloat(0), Float.intBitsToFloat(31)};
        float[] other = {Float.intBitsToFloat(1), Float.intBitsToFloat(0)};
        assertEquals(Arrays.hashCode(holder.scales), Arrays.hashCode(other));
        assertSeen("scales", () -> holder.scales = other);
    }

    @Test
    void of_largeArrayOfNumbers_isNotCopied() {
        holder.scales = new float[5_000_000];
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long thread = Thread.currentThread().getId();
        long before = threads.getThreadAllocatedBytes(thread);
        BlockState state = state();
        long allocatedBytes = threads.getThreadAllocatedBytes(thread) - before;
        assertTrue(allocatedBytes < 1 << 20, allocatedBytes + " bytes");
        holder.scales[4_000_000] = 1;
        assertTrue(state.difference(state()).isPresent());
    }

    @Test
    void difference_staticField_seen() {
        assertSeen("text", () -> Statics.text = "after");
    }

    @Test
    void difference_arrayClosedOrOfAnotherShape_seen() {
        assertSeen("array", () -> holder.array.close());
        assertSeen("array", () -> holder.array = FakeArrays.array(MANAGER, DataType.FLOAT32, 3, 2));
        assertSeen("array", () -> holder.array = FakeArrays.array(MANAGER, DataType.FLOAT16, 3, 2));
    }

    /** A pass may keep its last result; that array's values do not influence the next pass. */
    @Test
    void difference_otherArrayOfTheSameTypeAndShape_none() {
        BlockState before = state();
        holder.array = FakeArrays.array(MANAGER, DataType.FLOAT32, 2, 3);
        assertEquals(Optional.empty(), before.difference(state()));
    }

    @Test
    void difference_oneElementMoreOrLess_seen() {
        assertSeen("", () -> holder.list.add("z"));
        assertSeen("", () -> holder.list.remove(0));
    }

    @Test
    void difference_twoFieldsNoLongerTheSameObject_seen() {
        assertSeen("second", () -> holder.second = new Object());
    }

    @Test
    void difference_bothFieldsAnotherObject_none() {
        BlockState before = state();
        holder.first = new Object();
        holder.second = holder.first;
        assertEquals(Optional.empty(), before.difference(state()));
    }

    @Test
    void arraysHeld_fieldsAndLists_eachOnceByIdentity() {
        NDArray twin = FakeArrays.array(MANAGER, DataType.FLOAT32, 2, 3);
        assertEquals(holder.array, twin);
        holder.list.add(twin);
        holder.list.add(holder.array);
        Set<NDArray> held = BlockState.arraysHeld(holder, List.of());
        assertEquals(2, held.size());
        assertTrue(held.contains(twin));
        assertTrue(held.contains(holder.array));
    }
}
