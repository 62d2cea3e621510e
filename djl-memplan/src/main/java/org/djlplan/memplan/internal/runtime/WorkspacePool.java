package org.djlplan.memplan.internal.runtime;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets the workspaces of several models share pages. A workspace is memory that a delegate writes
 * and reads within one inference, and does not need afterwards.
 *
 * <pre>
 *   workspace A ─┐                        A and B take turns: the pages are as many as the larger
 *   workspace B ─┴─► pages 1              of the two needs
 *   workspace C ───► pages 2              C ran while pages 1 were taken
 * </pre>
 *
 * <p>A workspace lies on one set of pages, which one inference at a time may use. An inference
 * whose pages are in use switches to free pages, or to new ones, and stays there. Switching costs
 * time, so a workspace that switches repeatedly gets its own pages. Pages that no workspace needs
 * any more are released at once, so that the pool never takes more memory than separate workspaces
 * would.
 */
public final class WorkspacePool {

    private static final Logger logger = LoggerFactory.getLogger(WorkspacePool.class);

    private static final WorkspacePool SHARED = new WorkspacePool();

    /** Switches that are always allowed, until a workspace has settled. */
    private static final int FREE_MOVES = 4;

    /** Number of inferences between two switches that justify a switch. */
    private static final int RUNS_FOR_A_MOVE = 32;

    /** The memory of a delegate that can be moved to any pages. */
    public interface Workspace {

        /** Returns its size in bytes: whole pages. */
        long bytes();

        /**
         * Moves the workspace to pages that are at least as large as it. Its content is lost.
         *
         * @param pages identifier in the native library
         * @return false if it is on its own pages instead
         * @throws IllegalStateException if it has no pages, and must not be used any more
         */
        boolean lieOn(int pages);
    }

    /** The system's pages. */
    interface Source {

        /** Returns the identifier of new pages, initially empty; empty if none are available. */
        OptionalInt create();

        /** Returns whether there is memory for the new size. */
        boolean resize(int pages, long oldBytes, long bytes);

        void close(int pages);
    }

    private static final class NativeSource implements Source {

        private final Map<Integer, NativeLoader.Use> uses = new HashMap<>();

        @Override
        public OptionalInt create() {
            NativeLoader.Use use;
            try {
                use = NativeMemory.use();
            } catch (UnsupportedPlatformException e) {
                throw new IllegalStateException(e);
            }
            int file = NativeMemory.djlplan_pages_create();
            if (file < 0) {
                use.close();
                return OptionalInt.empty();
            }
            uses.put(file, use);
            return OptionalInt.of(file);
        }

        @Override
        public boolean resize(int pages, long oldBytes, long bytes) {
            return NativeMemory.djlplan_pages_resize(pages, oldBytes, bytes) == 0;
        }

        @Override
        public void close(int pages) {
            NativeMemory.djlplan_pages_close(pages);
            uses.remove(pages).close();
        }
    }

    private final Source source;
    private final ReentrantLock lock = new ReentrantLock(true);
    private final Condition returned = lock.newCondition();
    private final List<Pages> all = new ArrayList<>();
    private long moves;

    /** One set of pages. */
    private static final class Pages {
        private final int file;
        private final Set<Resident> residents = new HashSet<>();
        private long bytes;
        private boolean taken;

        /** Reserved for one resident. */
        private boolean reserved;

        Pages(int file) {
            this.file = file;
        }

        long neededBytes() {
            return residents.stream().mapToLong(r -> r.bytes).max().orElse(0);
        }
    }

    /** Creates a pool of native memory. */
    public WorkspacePool() {
        this(new NativeSource());
    }

    WorkspacePool(Source source) {
        this.source = source;
    }

    /** Returns the pool that all models of this JVM share. */
    public static WorkspacePool shared() {
        return SHARED;
    }

    /** Returns the current figures. */
    public WorkspaceMetric metric() {
        lock.lock();
        try {
            int workspaces = 0;
            long workspaceBytes = 0;
            long bytes = 0;
            int taken = 0;
            for (Pages pages : all) {
                workspaces += pages.residents.size();
                workspaceBytes += pages.residents.stream().mapToLong(r -> r.bytes).sum();
                bytes += pages.bytes;
                taken += pages.taken ? 1 : 0;
            }
            return new WorkspaceMetric(workspaces, workspaceBytes, all.size(), bytes, taken, moves);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Moves a workspace to pages of the pool until {@link Resident#close()}; not during an
     * inference of its delegate.
     *
     * @return empty if there are no pages for it, so that it has its own
     * @throws IllegalStateException if it must not be used any more
     */
    public Optional<Resident> join(Workspace workspace) {
        lock.lock();
        try {
            Resident resident = new Resident(workspace);
            // Pages in use are allowed, too: the first inference waits or moves.
            Optional<Pages> pages = all.stream().filter(p -> !p.reserved).findFirst();
            if (settle(resident, pages)) {
                return Optional.of(resident);
            }
            logger.info("No pages to share for a workspace of {} bytes", resident.bytes);
            return Optional.empty();
        } finally {
            lock.unlock();
        }
    }

    /** A workspace on pages of this pool. */
    public final class Resident implements AutoCloseable {

        private final Workspace workspace;
        private final long bytes;

        /** Empty if it lies on its own pages, which the pool does not manage. */
        private Optional<Pages> pages = Optional.empty();

        private long runs;
        private long ownMoves;
        private boolean lost;

        private Resident(Workspace workspace) {
            this.workspace = workspace;
            bytes = workspace.bytes();
        }

        /**
         * Waits for its turn if necessary: no other resident uses the pages until the result is
         * closed.
         *
         * @throws IllegalStateException if the workspace must not be used any more
         */
        public Turn take() {
            return WorkspacePool.this.take(this);
        }

        /** Ends the residence, after the workspace was freed. A second call does nothing. */
        @Override
        public void close() {
            lock.lock();
            try {
                leave(this);
            } finally {
                lock.unlock();
            }
        }
    }

    /** The use of pages for one inference. */
    public final class Turn implements AutoCloseable {

        private final Optional<Pages> pages;

        private Turn(Optional<Pages> pages) {
            this.pages = pages;
        }

        @Override
        public void close() {
            lock.lock();
            try {
                pages.ifPresent(used -> used.taken = false);
                returned.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }

    private Turn take(Resident resident) {
        lock.lock();
        try {
            checkState(!resident.lost, "the pages of a workspace are lost");
            resident.runs++;
            while (resident.pages.isPresent() && resident.pages.get().taken) {
                // It waits only if there is no memory for more pages.
                if (!move(resident) && resident.pages.isPresent()) {
                    returned.awaitUninterruptibly();
                }
            }
            resident.pages.ifPresent(own -> own.taken = true);
            return new Turn(resident.pages);
        } finally {
            lock.unlock();
        }
    }

    /** Switches to free or new pages. A resident that has switched often gets its own pages. */
    private boolean move(Resident resident) {
        boolean often = resident.ownMoves >= FREE_MOVES + resident.runs / RUNS_FOR_A_MOVE;
        Optional<Pages> free =
                all.stream().filter(p -> !p.taken && !p.reserved && !often).findFirst();
        if (!settle(resident, free)) {
            return false;
        }
        resident.ownMoves++;
        moves++;
        resident.pages.ifPresent(pages -> pages.reserved = often);
        return true;
    }

    /**
     * Moves a resident to pages, new ones if none are given.
     *
     * @return false if it stays on its previous pages for lack of memory, or has its own pages
     */
    private boolean settle(Resident resident, Optional<Pages> given) {
        Optional<Pages> found = given.or(this::create);
        if (found.isEmpty()) {
            return false;
        }
        Pages pages = found.get();
        if (!grow(pages, resident.bytes)) {
            shrink(pages);
            return false;
        }
        resident.lost = true;
        boolean moved = false;
        try {
            moved = resident.workspace.lieOn(pages.file);
            resident.lost = false;
        } finally {
            leave(resident);
            if (moved) {
                pages.residents.add(resident);
                resident.pages = found;
            }
            shrink(pages);
        }
        return moved;
    }

    private Optional<Pages> create() {
        OptionalInt file = source.create();
        if (file.isEmpty()) {
            return Optional.empty();
        }
        Pages made = new Pages(file.getAsInt());
        all.add(made);
        return Optional.of(made);
    }

    private boolean grow(Pages pages, long bytes) {
        if (pages.bytes < bytes && source.resize(pages.file, pages.bytes, bytes)) {
            pages.bytes = bytes;
        }
        return pages.bytes >= bytes;
    }

    /** Removes a resident from its pages. */
    private void leave(Resident resident) {
        Optional<Pages> left = resident.pages;
        resident.pages = Optional.empty();
        left.ifPresent(
                pages -> {
                    pages.residents.remove(resident);
                    shrink(pages);
                });
    }

    /** Releases pages that no resident needs. */
    private void shrink(Pages pages) {
        long needed = pages.neededBytes();
        if (needed < pages.bytes && source.resize(pages.file, pages.bytes, needed)) {
            pages.bytes = needed;
        }
        if (pages.residents.isEmpty() && all.remove(pages)) {
            source.close(pages.file);
        }
    }
}
