package org.djlplan.memplan.internal.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.TreeMap;
import org.djlplan.memplan.internal.runtime.WorkspacePool.Resident;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class WorkspacePoolTest {

    private static final long PAGE = 4096;
    private static final int MANY = 2_000;

    private final FakePages memory = new FakePages();
    private final WorkspacePool pool = new WorkspacePool(memory);

    /** Files that have only a size, with a limit for the sum of the sizes. */
    private static final class FakePages implements WorkspacePool.Source {
        private final Map<Integer, Long> sizes = new TreeMap<>();
        private long limitBytes = Long.MAX_VALUE;
        private int next = 7;

        @Override
        public OptionalInt create() {
            if (limitBytes == 0) {
                return OptionalInt.empty();
            }
            sizes.put(next, 0L);
            return OptionalInt.of(next++);
        }

        @Override
        public boolean resize(int pages, long oldBytes, long bytes) {
            assertEquals(oldBytes, sizes.get(pages));
            if (bytes > oldBytes && total() - oldBytes + bytes > limitBytes) {
                return false;
            }
            sizes.put(pages, bytes);
            return true;
        }

        @Override
        public void close(int pages) {
            assertEquals(0, sizes.remove(pages));
        }

        long total() {
            return sizes.values().stream().mapToLong(size -> size).sum();
        }
    }

    private final class FakeWorkspace implements WorkspacePool.Workspace {
        private final long bytes;
        private int file = -1;
        private boolean isLost;

        FakeWorkspace(long pages) {
            bytes = pages * PAGE;
        }

        @Override
        public long bytes() {
            return bytes;
        }

        @Override
        public boolean lieOn(int pages) {
            file = -1;
            if (isLost) {
                throw new IllegalStateException("lost");
            }
            if (pages >= 0) {
                assertTrue(memory.sizes.get(pages) >= bytes);
                file = pages;
            }
            return file >= 0;
        }
    }

    @AfterEach
    void everythingIsGivenBack() {
        assertEquals(Map.of(), memory.sizes);
        assertEquals(0, pool.metric().files());
        assertEquals(0, pool.metric().taken());
        assertEquals(0, pool.metric().bytes());
    }

    private Resident join(FakeWorkspace workspace) {
        return pool.join(workspace).orElseThrow();
    }

    @Test
    void take_pagesAreTaken_movesToOthersAndStaysThere() {
        FakeWorkspace moving = new FakeWorkspace(2);
        try (Resident one = join(new FakeWorkspace(1));
                Resident other = join(moving)) {
            int before = moving.file;
            one.take();
            other.take();
            int now = moving.file;
            assertNotEquals(before, now);
            // The workspace that stayed keeps no more pages than it needs.
            assertEquals(new WorkspaceMetric(2, 3 * PAGE, 2, 3 * PAGE, 2, 1), pool.metric());
            other.release();
            // A third workspace finds the pages free that the second moved to.
            FakeWorkspace third = new FakeWorkspace(3);
            try (Resident last = join(third)) {
                last.take();
                assertEquals(now, third.file);
                last.release();
            }
            one.release();
        }
    }

    @Test
    void take_againAndAgainTaken_getsMemoryOfItsOwn() {
        List<Resident> residents = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            residents.add(join(new FakeWorkspace(i + 1)));
        }
        long unshared = pool.metric().workspaceBytes();
        Random random = new Random(1);
        for (int i = 0; i < MANY; i++) {
            Resident first = residents.get(random.nextInt(5));
            Resident second = residents.get(random.nextInt(5));
            if (first != second) {
                first.take();
                second.take();
                first.release();
                second.release();
                assertTrue(pool.metric().bytes() <= unshared);
            }
        }
        assertTrue(pool.metric().moves() <= MANY / 16, pool.metric()::toString);
        residents.forEach(Resident::close);
    }

    @Test
    void take_noMemoryForOtherPages_getsMemoryOfItsOwn() {
        FakeWorkspace workspace = new FakeWorkspace(2);
        try (Resident one = join(new FakeWorkspace(2));
                Resident other = join(workspace)) {
            memory.limitBytes = memory.total();
            one.take();
            other.take();
            assertEquals(-1, workspace.file);
            assertEquals(new WorkspaceMetric(1, 2 * PAGE, 1, 2 * PAGE, 1, 1), pool.metric());
            one.release();
            other.release();
        }
    }

    @Test
    void join_noPages_hasMemoryOfItsOwn() {
        memory.limitBytes = 0;
        assertEquals(Optional.empty(), pool.join(new FakeWorkspace(1)));
        memory.limitBytes = PAGE;
        assertEquals(Optional.empty(), pool.join(new FakeWorkspace(2)));
    }

    @Test
    void take_pagesAreLost_isRefusedForGood() {
        FakeWorkspace workspace = new FakeWorkspace(2);
        try (Resident one = join(new FakeWorkspace(1));
                Resident other = join(workspace)) {
            workspace.isLost = true;
            one.take();
            assertThrows(IllegalStateException.class, other::take);
            assertThrows(IllegalStateException.class, other::take);
            one.release();
        }
    }
}
