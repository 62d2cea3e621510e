package org.djlplan.memplan.internal.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.djlplan.memplan.internal.machine.MemoryRoom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BudgetResolverTest {

    private static final long MB = 1_000_000;
    private static final long STOCK_BYTES = 240 * MB;

    /** A container of 200 MB, 10 MB of which stay free. */
    private MemoryRoom room = new MemoryRoom(200 * MB, 90 * MB, 0);

    private long nanos = 1;
    private int looks;

    private BudgetResolver resolver(Budget budget) {
        return new BudgetResolver(
                budget,
                STOCK_BYTES,
                () -> {
                    looks++;
                    return room;
                },
                () -> nanos);
    }

    private void used(long bytes) {
        room = new MemoryRoom(room.limitBytes(), bytes, 0);
        nanos += TimeUnit.SECONDS.toNanos(1);
    }

    @Test
    void bytes_fixedBudgets_needNoMachine() {
        assertEquals(48 * MB, resolver(new Budget.Bytes(48 * MB)).bytes(0));
        assertEquals(60 * MB, resolver(new Budget.ShareOfStock(.25)).bytes(0));
        assertEquals(1, resolver(new Budget.ShareOfStock(1e-12)).bytes(0));
        assertEquals(Long.MAX_VALUE, resolver(new Budget.Unlimited()).bytes(0));
        assertEquals(0, looks);
    }

    @Test
    void bytes_auto_leavesTheHeapRoomToGrow() {
        room = new MemoryRoom(200 * MB, 90 * MB, 64 * MB);
        assertEquals(36 * MB, resolver(new Budget.Auto()).bytes(0));
    }

    @Test
    void bytes_auto_ownMemoryIsNotOthers() {
        BudgetResolver resolver = resolver(new Budget.Auto());
        assertEquals(100 * MB, resolver.bytes(0));
        used(190 * MB);
        assertEquals(100 * MB, resolver.bytes(100 * MB));
    }

    @Test
    void bytes_autoWithNothingLeft_isTheLeastOfAllBudgets() {
        room = new MemoryRoom(200 * MB, 250 * MB, 0);
        assertEquals(1, resolver(new Budget.Auto()).bytes(0));
    }

    @ParameterizedTest
    @CsvSource({"90, 100", "81, 100", "79, 111", "99, 100", "101, 89", "180, 10"})
    void bytes_autoAfterUseChanged_movesByMoreThanATenth(long usedMegabytes, long megabytes) {
        BudgetResolver resolver = resolver(new Budget.Auto());
        assertEquals(100 * MB, resolver.bytes(0));
        used(usedMegabytes * MB);
        assertEquals(megabytes * MB, resolver.bytes(0));
    }

    @Test
    void bytes_autoWithALimitThatWasLowered_follows() {
        BudgetResolver resolver = resolver(new Budget.Auto());
        assertEquals(100 * MB, resolver.bytes(0));
        room = new MemoryRoom(160 * MB, 90 * MB, 0);
        nanos += TimeUnit.SECONDS.toNanos(1);
        assertEquals(62 * MB, resolver.bytes(0));
    }

    @Test
    void bytes_autoInUseThatSwings_doesNotMove() {
        BudgetResolver resolver = resolver(new Budget.Auto());
        for (int i = 0; i < 20; i++) {
            assertEquals(100 * MB, resolver.bytes(0));
            used((i % 2 == 0 ? 95 : 85) * MB);
        }
    }

    /** The model may have to wait for a prediction before it knows its memory. */
    @Test
    void bytes_ownMemory_isAskedForOnlyWhenTheMachineIsRead() {
        AtomicInteger asked = new AtomicInteger();
        for (Budget fixed : List.of(new Budget.Bytes(48 * MB), new Budget.ShareOfStock(.25))) {
            assertTrue(resolver(fixed).bytes(asked::incrementAndGet) > 1);
        }
        assertEquals(0, asked.get());
        BudgetResolver auto = resolver(new Budget.Auto());
        for (int i = 0; i < 10; i++) {
            assertTrue(auto.bytes(asked::incrementAndGet) > 1);
        }
        assertEquals(1, asked.get());
    }

    @Test
    void bytes_autoWithinASecond_looksOnce() {
        BudgetResolver resolver = resolver(new Budget.Auto());
        for (int i = 0; i < 1000; i++) {
            resolver.bytes(0);
            nanos += TimeUnit.MILLISECONDS.toNanos(1) / 2;
        }
        assertEquals(1, looks);
        nanos += TimeUnit.SECONDS.toNanos(1);
        resolver.bytes(0);
        assertEquals(2, looks);
    }
}
