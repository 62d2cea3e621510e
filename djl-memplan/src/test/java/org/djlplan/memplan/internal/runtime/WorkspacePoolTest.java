package org.djlplan.memplan.internal.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.djlplan.memplan.internal.runtime.WorkspacePool.Resident;
import org.djlplan.memplan.internal.runtime.WorkspacePool.Turn;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
@SuppressWarnings("try")
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

    private enum Trouble {
        NONE,
        OWN_PAGES,
        LOST
    }

    private final class FakeWorkspace implements WorkspacePool.Workspace {
        private final long bytes;
        private int file = -1;
        private Trouble trouble = Trouble.NONE;

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
            if (trouble == Trouble.LOST) {
                throw new IllegalStateException("lost");
            }
            if (trouble == Trouble.NONE) {
                assertTrue(memory.sizes.get(pages) >= bytes);
                file = pages;
            }
            return trouble == Trouble.NONE;
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
    void take_pagesAreTaken_goesOverToOthersAndStaysThere() {
        FakeWorkspace moving = new FakeWorkspace(2);
        FakeWorkspace third = new FakeWorkspace(3);
        try (Resident one = join(new FakeWorkspace(1));
                Resident other = join(moving)) {
            int before = moving.file;
            try (Turn unused = one.take();
                    Turn itsOwn = other.take()) {
                assertNotEquals(before, moving.file);
                // The workspace that stayed keeps no more pages than it needs.
                assertEquals(3 * PAGE, memory.total());
                assertEquals(2, pool.metric().taken());
            }
            int now = moving.file;
            try (Turn unused = one.take();
                    Turn itsOwn = other.take()) {
                assertEquals(now, moving.file);
            }
            assertEquals(1, pool.metric().moves());
            // A third workspace finds the pages free that the second moved to.
            try (Resident last = join(third);
                    Turn unused = one.take();
                    Turn itsOwn = last.take()) {
                assertEquals(now, third.file);
                assertEquals(4 * PAGE, memory.total());
            }
        }
    }

    @Test
    void take_againAndAgainTaken_getsPagesForItself() {
        List<FakeWorkspace> workspaces = new ArrayList<>();
        List<Resident> residents = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            workspaces.add(new FakeWorkspace(i + 1));
            residents.add(join(workspaces.get(i)));
        }
        long unshared = pool.metric().workspaceBytes();
        Random random = new Random(1);
        for (int i = 0; i < MANY; i++) {
            Resident first = residents.get(random.nextInt(5));
            Resident second = residents.get(random.nextInt(5));
            if (first != second) {
                try (Turn unused = first.take();
                        Turn atOnce = second.take()) {
                    assertEquals(2, pool.metric().taken());
                }
                assertTrue(pool.metric().bytes() <= unshared);
            }
        }
        assertTrue(pool.metric().moves() <= MANY / 16, pool.metric()::toString);
        // Each workspace has its own pages by now, so it drives no other away.
        long moves = pool.metric().moves();
        residents.forEach(r -> r.take().close());
        assertEquals(moves, pool.metric().moves());
        residents.forEach(Resident::close);
    }

    @Test
    void take_noMemoryForOthers_waitsForItsTurn() throws Exception {
        FakeWorkspace workspace = new FakeWorkspace(2);
        try (Resident one = join(new FakeWorkspace(2));
                Resident other = join(workspace)) {
            int file = workspace.file;
            memory.limitBytes = memory.total();
            FutureTask<Void> waiting =
                    new FutureTask<>(
                            () -> {
                                other.take().close();
                                return null;
                            });
            Thread thread = new Thread(waiting);
            try (Turn unused = one.take()) {
                thread.start();
                Await.until(() -> thread.getState() == Thread.State.WAITING);
                assertFalse(waiting.isDone());
            }
            waiting.get(30, TimeUnit.SECONDS);
            assertEquals(file, workspace.file);
            assertEquals(0, pool.metric().moves());
        }
    }

    @Test
    void join_noPages_leavesTheWorkspaceAlone() {
        memory.limitBytes = 0;
        assertEquals(Optional.empty(), pool.join(new FakeWorkspace(1)));
        memory.limitBytes = PAGE;
        assertEquals(Optional.empty(), pool.join(new FakeWorkspace(2)));
        FakeWorkspace refused = new FakeWorkspace(1);
        refused.trouble = Trouble.OWN_PAGES;
        assertEquals(Optional.empty(), pool.join(refused));
    }

    @Test
    void take_movedToOwnPages_neverWaits() {
        FakeWorkspace workspace = new FakeWorkspace(2);
        try (Resident one = join(new FakeWorkspace(1));
                Resident other = join(workspace)) {
            workspace.trouble = Trouble.OWN_PAGES;
            try (Turn unused = one.take();
                    Turn alone = other.take();
                    Turn again = other.take()) {
                assertEquals(new WorkspaceMetric(1, PAGE, 1, PAGE, 1, 0), pool.metric());
            }
        }
    }

    @Test
    void take_pagesAreLost_isRefusedForGood() {
        FakeWorkspace workspace = new FakeWorkspace(2);
        try (Resident one = join(new FakeWorkspace(1));
                Resident other = join(workspace)) {
            workspace.trouble = Trouble.LOST;
            try (Turn unused = one.take()) {
                assertThrows(IllegalStateException.class, other::take);
            }
            assertThrows(IllegalStateException.class, other::take);
            one.take().close();
        }
    }
}
