package org.djlplan.memplan.internal.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.internal.runtime.ArenaPool.Lease;
import org.djlplan.memplan.internal.runtime.ArenaPool.Need;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ArenaPoolTest {

    private static final long SMALL = 5_000;
    private static final long MIDDLE = 50_000;
    private static final long LARGE = 500_000;

    private final FakeArenas memory = new FakeArenas();
    private final ArenaPool pool = memory.pool();

    @AfterEach
    void everythingIsFreed() {
        assertEquals(0, memory.liveCount());
        assertEquals(0, pool.metric().arenas());
        assertEquals(0, pool.metric().arenaBytes());
        assertEquals(0, pool.metric().leased());
    }

    private static Arena use(Need need) {
        try (Lease lease = need.tryLease().orElseThrow()) {
            return lease.arena();
        }
    }

    @Test
    void lease_severalIdle_givesTheSmallestThatIsLargeEnough() {
        try (Need small = pool.announce(SMALL);
                Need middle = pool.announce(MIDDLE);
                Need large = pool.announce(LARGE)) {
            Lease one = large.tryLease().orElseThrow();
            Lease two = middle.tryLease().orElseThrow();
            Lease three = small.tryLease().orElseThrow();
            List<Arena> arenas = List.of(one.arena(), two.arena(), three.arena());
            List.of(two, one, three).forEach(Lease::close);
            assertEquals(arenas.get(1), use(middle));
            assertEquals(arenas.get(2), use(small));
            assertEquals(arenas.get(0), use(large));
            assertEquals(3, pool.metric().arenas());
        }
    }

    @Test
    void lease_sizesThatAreKnownOnlyThen_useOneArena() throws Exception {
        try (Need need = pool.announceAny(Keeping.LONG)) {
            Arena arena = null;
            for (long bytes : List.of(SMALL, LARGE, MIDDLE, LARGE)) {
                try (Lease lease = need.lease(bytes)) {
                    assertTrue(lease.arena().bytes() >= bytes);
                    assertTrue(arena == null || arena == lease.arena());
                    arena = lease.arena();
                }
            }
            assertEquals(1, pool.metric().arenas());
        }
    }

    private static void reach(Need need, long reachedBytes) {
        need.tryLease().orElseThrow().close(reachedBytes);
    }

    /** Kernels may read past the end of any arena; using one does not make it larger. */
    @Test
    void lease_fitsOnlyWithoutTheSparePage_grows() {
        long first = 4096;
        long second = Arena.roundedBytes(first) - 1;
        try (Need small = pool.announce(first);
                Need larger = pool.announce(second)) {
            Arena arena = use(small);
            assertEquals(arena, use(larger));
            assertEquals(Arena.roundedBytes(second), arena.bytes());
            assertEquals(arena, use(small));
            assertEquals(Arena.roundedBytes(second), arena.bytes());
        }
    }

    /** Only predictions with verified places can avoid arrays of earlier predictions. */
    @Test
    void lease_arraysLieInTheArena_isNotLentToOthers() {
        try (Need any = pool.announceAny(Keeping.LONG);
                Need fixed = pool.announce(SMALL)) {
            Arena arena = use(any);
            assertEquals(arena, use(fixed));
            memory.setInUse(true);
            Arena other = use(fixed);
            assertFalse(arena.equals(other));
            assertEquals(other, use(fixed));
        }
    }

    private static Arena place(Need need, long bytes) throws InterruptedException {
        try (Lease lease = need.lease(bytes)) {
            return lease.arena();
        }
    }

    @Test
    void lease_overlappedOnceAndNoMore_theOtherArenaGivesItsMemoryBack() throws Exception {
        long bytes = 8L << 20;
        try (Need need = pool.announceAny(Keeping.LONG)) {
            try (Lease one = need.lease(bytes);
                    Lease two = need.lease(bytes)) {
                assertFalse(one.arena().equals(two.arena()));
            }
            assertEquals(2 * Arena.roundedBytes(bytes), pool.metric().arenaBytes());
            for (int i = 0; i < 3 * ArenaPool.ALONE; i++) {
                Arena unused = place(need, bytes);
            }
            Await.until(() -> !memory.trims().isEmpty());
            assertEquals(
                    Arena.roundedBytes(bytes) + Arena.roundedBytes(0), pool.metric().arenaBytes());
        }
    }

    @Test
    void trimInPause_arenaInUse_trimsWhenItIsReturned() {
        try (Need any = pool.announceAny(Keeping.SHORT)) {
            Lease lease = leased(any);
            leased(any).close(LARGE);
            leased(any).close(SMALL);
            pool.trimInPause(true);
            pool.trimInPause(false);
            assertEquals(List.of(), memory.trims());
            lease.close(SMALL);
            Await.until(() -> pool.metric().arenaBytes() == 2 * Arena.roundedBytes(SMALL));
        }
    }

    @Test
    void trimAll_largestNeedIsKnown_keepsAsMuch() {
        try (Need any = pool.announceAny(Keeping.LONG);
                Need known = pool.announce(SMALL)) {
            reach(known, SMALL);
            reach(any, LARGE);
            pool.trimAll();
            assertEquals(List.of(Arena.roundedBytes(SMALL)), memory.trims());
            assertEquals(Arena.roundedBytes(SMALL), pool.metric().arenaBytes());
            assertEquals(1, pool.metric().arenas());
        }
    }

    /** Other predictions may write less than they reserve. */
    @Test
    void lease_bytes_areInMemoryForThoseWhoWriteAllOfThem() throws Exception {
        try (Need any = pool.announceAny(Keeping.LONG);
                Need planned = pool.announce(MIDDLE)) {
            any.tryLeaseAlone(LARGE).orElseThrow().close();
            planned.tryLease().orElseThrow().close();
            any.tryLease().orElseThrow().close();
            assertEquals(List.of(), memory.maps());
            any.lease(MIDDLE).close();
            assertEquals(List.of(Arena.roundedBytes(MIDDLE)), memory.maps());
        }
    }

    @Test
    void trimAll_arenaInUse_trimsWhenItIsReturned() throws Exception {
        try (Need any = pool.announceAny(Keeping.LONG)) {
            Lease lease = any.lease(LARGE);
            Lease idle = any.lease(MIDDLE);
            idle.close();
            pool.trimAll();
            assertEquals(List.of(Arena.roundedBytes(1)), memory.trims());
            assertEquals(
                    Arena.roundedBytes(LARGE) + Arena.roundedBytes(1), pool.metric().arenaBytes());
            lease.close();
            Await.until(() -> memory.trims().size() == 2);
            assertEquals(2 * Arena.roundedBytes(1), pool.metric().arenaBytes());
            Arena again = place(any, LARGE);
            assertTrue(again.bytes() >= LARGE);
            assertEquals(2, memory.trims().size(), "only once");
        }
    }

    private Lease leased(Need need) {
        return need.tryLease().orElseThrow();
    }

    @Test
    void tryLeaseAlone_noOtherLease_doesNotShareTheArena() {
        try (Need any = pool.announceAny(Keeping.LONG)) {
            reach(any, 4L << 20);
            Lease alone = any.tryLeaseAlone(5L << 20).orElseThrow();
            assertTrue(alone.arena().bytes() >= 5L << 20);
            assertEquals(Optional.empty(), any.tryLeaseAlone(64));
            Lease other = leased(any);
            assertFalse(alone.arena().equals(other.arena()));
            other.close();
            alone.close();
        }
    }

    @Test
    void tryLeaseAlone_twoOverlappedOfLate_isEmpty() {
        try (Need any = pool.announceAny(Keeping.LONG)) {
            Lease first = leased(any);
            Lease second = leased(any);
            first.close();
            second.close();
            for (int i = 0; i < ArenaPool.ALONE; i++) {
                assertEquals(Optional.empty(), any.tryLeaseAlone(64));
                leased(any).close();
            }
            any.tryLeaseAlone(64).orElseThrow().close();
        }
    }

    @Test
    void abandon_arraysStayOpen_poolForgetsArena() {
        try (Need need = pool.announce(SMALL)) {
            Lease lease = need.tryLease().orElseThrow();
            Arena kept = lease.arena();
            lease.abandon();
            lease.abandon();
            lease.close();
            assertEquals(0, pool.metric().arenas());
            assertFalse(kept.equals(use(need)));
        }
    }

    @Test
    void lease_needOrLeaseIsOver_throws() {
        Need need = pool.announce(SMALL);
        Lease lease = need.tryLease().orElseThrow();
        lease.close();
        assertThrows(IllegalStateException.class, lease::arena);
        need.close();
        assertEquals(Optional.empty(), need.tryLease());
        assertThrows(IllegalStateException.class, () -> need.lease(SMALL));
        assertThrows(IllegalArgumentException.class, () -> pool.announce(0));
    }

    @Test
    void lease_noMemory_throwsAndReleasesItsPlace() throws Exception {
        try (Need small = pool.announce(SMALL);
                Need large = pool.announce(LARGE)) {
            assertTrue(use(small).bytes() >= SMALL);
            memory.exhaust(true);
            assertThrows(IllegalStateException.class, () -> large.tryLease());
            assertThrows(IllegalStateException.class, () -> large.lease(LARGE));
            assertEquals(0, pool.metric().leased());
            memory.exhaust(false);
            Lease lease = large.lease(LARGE);
            memory.exhaust(true);
            assertThrows(IllegalStateException.class, () -> small.lease(SMALL));
            lease.close();
            assertTrue(use(small).bytes() >= LARGE);
        }
    }
}
