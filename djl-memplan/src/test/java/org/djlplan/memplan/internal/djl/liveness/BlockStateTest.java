package org.djlplan.memplan.internal.djl.liveness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.testing.FakeArrays;
import org.junit.jupiter.api.Test;

class BlockStateTest {

    private static final NDManager MANAGER = FakeArrays.manager();

    /** An object with fields of the types that a block may hold. */
    private static final class Holder {
        private NDArray array = FakeArrays.array(MANAGER, DataType.FLOAT32, 2, 3);
        private float[] scales = {1, 2};
        private final List<Object> list = new ArrayList<>(List.of("x", "y"));
        private Object first = new Object[0];
        private Object second = first;
    }

    private final Holder holder = new Holder();

    private BlockState state() {
        BlockState state = BlockState.of(holder);
        assertEquals(Optional.empty(), state.unseen());
        return state;
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
    void difference_elementOfAnArrayOfNumbers_seen() {
        assertSeen("scales", () -> holder.scales[1] = 3);
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
        assertSeen("second", () -> holder.second = new Object[0]);
    }

    @Test
    void difference_bothFieldsAnotherObject_none() {
        BlockState before = state();
        holder.first = new Object[0];
        holder.second = holder.first;
        assertEquals(Optional.empty(), before.difference(state()));
    }

    @Test
    void arraysHeld_fieldsAndLists_eachOnceByIdentity() {
        NDArray twin = FakeArrays.array(MANAGER, DataType.FLOAT32, 2, 3);
        assertEquals(holder.array, twin);
        holder.list.add(twin);
        holder.list.add(holder.array);
        Set<NDArray> held = BlockState.arraysHeld(holder);
        assertEquals(2, held.size());
        assertTrue(held.contains(twin));
        assertTrue(held.contains(holder.array));
    }

    @Test
    void unseen_largeArrayOfNumbers_isNamed() {
        holder.scales = new float[100_000];
        String unseen = BlockState.of(holder).unseen().orElseThrow();
        assertTrue(unseen.contains("scales has more than 65536 numbers"), unseen);
    }

    @Test
    void unseen_tooManyObjects_isNamed() {
        for (int i = 0; i < 100_001; i++) {
            holder.list.add(new Object[0]);
        }
        String unseen = BlockState.of(holder).unseen().orElseThrow();
        assertTrue(unseen.contains("list leads to more than 100000 objects"), unseen);
    }

    /** Its iterator is a user's code, too. */
    @Test
    void unseen_usersCollection_isNamedAndNotIterated() {
        holder.first =
                new ArrayList<Object>() {
                    private static final long serialVersionUID = 1L;

                    @Override
                    public Object get(int index) {
                        throw new AssertionError("a user's code runs");
                    }
                };
        String unseen = BlockState.of(holder).unseen().orElseThrow();
        assertTrue(unseen.contains("first has a " + holder.first.getClass().getName()), unseen);
    }
}
