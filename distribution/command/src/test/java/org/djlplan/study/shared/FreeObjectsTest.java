package org.djlplan.study.shared;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.primitives.ImmutableIntArray;
import org.junit.jupiter.api.Test;

/** Tests a large and a small shared object, into which one large and then three small units go. */
class FreeObjectsTest {

    private static final int LARGE = 0;
    private static final int SMALL = 1;

    private final FreeObjects free =
            new FreeObjects(
                    Sweep.of(
                            List.of(
                                    new UsageRecord(0, 0, 0, 128),
                                    new UsageRecord(1, 1, 1, 64),
                                    new UsageRecord(2, 2, 2, 64),
                                    new UsageRecord(3, 3, 3, 64))),
                    0,
                    4,
                    new int[] {2, 1});

    private ImmutableIntArray state(int position, int largeFrom, int smallFrom) {
        free.setFreeFrom(LARGE, largeFrom);
        free.setFreeFrom(SMALL, smallFrom);
        return free.state(position);
    }

    @Test
    void isLikeNext_untilTheLastLargeUnit_isFalse() {
        assertFalse(free.isLikeNext(LARGE, 0));
        assertTrue(free.isLikeNext(LARGE, 1));
    }

    @Test
    void state_interchangeableObjects_doesNotTellThemApart() {
        assertNotEquals(state(0, 4, 0), state(0, 0, 4));
        assertEquals(state(1, 4, 1), state(1, 1, 4));
    }

    @Test
    void state_objectFreeBeforeItsNextUse_isAsIfItBecameFreeThen() {
        assertEquals(state(0, 0, 0), state(0, 0, 1));
        assertNotEquals(state(0, 0, 1), state(0, 0, 2));
    }
}
