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
 * time, so a workspace that switches repeatedly gets memory of its own, as it had before it joined.
 * It gets the same if there is no memory for other pages, so no inference waits. Pages that no
 * workspace needs any more are released at once, so that the pool never takes more memory than
 * separate workspaces would.
 */
public final class WorkspacePool {

    private static final WorkspacePool SHARED = new WorkspacePool(new NativeSource());

    /** Switches that are always allowed, until a workspace has settled. */
    private static final int FREE_MOVES = 4;

    /** Number of inferences between two switches that justify a switch. */
    private static final int RUNS_FOR_A_MOVE = 32;

    /** No pages of the pool: the workspace's own memory. */
    private static final int OWN = -1;

    /** The memory of a delegate that can be moved to any pages. */
    public interface Workspace {

        /** Returns its size in bytes: whole pages. */
        long bytes();

        /**
         * Moves the workspace to pages that are at least as large as it. Its content is lost.
         *
         * @param pages identifier in the native library; −1 for memory of its own
         * @return false if it has memory of its own
         * @throws IllegalStateException if it has no memory, and must not be used any more
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
    private final List<Pages> all = new ArrayList<>();
    private long moves;

    /** One set of pages. */
    private static final class Pages {
        private final int file;
        private final Set<Resident> residents = new HashSet<>();
        private long bytes;
        private boolean taken;

        Pages(int file) {
            this.file = file;
        }

        long neededBytes() {
            return residents.stream().mapToLong(r -> r.bytes).max().orElse(0);
        }
    }

    WorkspacePool(Source source) {
        this.source = source;
    }

    /** Returns the pool that all models of this JVM share. */
    public static WorkspacePool shared() {
        return SHARED;
    }

    /** Returns the current figures. */
    public synchronized WorkspaceMetric metric() {
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
    }

    /**
     * Moves a workspace to pages of the pool until {@link Resident#close()}; not during an
     * inference of its delegate.
     *
     * @return empty if there are no pages for it, so that it has its own memory
     * @throws IllegalStateException if it must not be used any more
     */
    public synchronized Optional<Resident> join(Workspace workspace) {
        Resident resident = new Resident(workspace);
        // Pages in use are allowed, too: the first inference moves.
        resident.settle(all.stream().findFirst());
        return resident.pages.isPresent() ? Optional.of(resident) : Optional.empty();
    }

    /** A workspace on pages of this pool, or in its own memory. One inference at a time uses it. */
    public final class Resident implements AutoCloseable {

        private final Workspace workspace;
        private final long bytes;

        /** Empty if it has its own memory, which the pool does not manage. */
        private Optional<Pages> pages = Optional.empty();

        private long runs;
        private long ownMoves;
        private boolean lost;

        private Resident(Workspace workspace) {
            this.workspace = workspace;
            bytes = workspace.bytes();
        }

        /**
         * Begins an inference: no other resident uses the pages until {@link #release}.
         *
         * @throws IllegalStateException if the workspace must not be used any more
         */
        public void take() {
            synchronized (WorkspacePool.this) {
                checkState(!lost, "the pages of a workspace are lost");
                runs++;
                if (pages.isPresent() && pages.get().taken) {
                    move();
                }
                pages.ifPresent(own -> own.taken = true);
            }
        }

        /** Ends an inference. */
        public void release() {
            synchronized (WorkspacePool.this) {
                pages.ifPresent(own -> own.taken = false);
            }
        }

        /** Ends the residence, after the workspace was freed. A second call does nothing. */
        @Override
        public void close() {
            synchronized (WorkspacePool.this) {
                leave();
            }
        }

        /** Switches to free or new pages; after many switches to its own memory. */
        private void move() {
            if (ownMoves >= FREE_MOVES + runs / RUNS_FOR_A_MOVE) {
                lieOn(Optional.empty());
            } else {
                settle(all.stream().filter(each -> !each.taken).findFirst());
            }
            ownMoves++;
            moves++;
        }

        /** Moves to pages, new ones if none are given; to its own memory if there are none. */
        private void settle(Optional<Pages> given) {
            Optional<Pages> found = given.or(WorkspacePool.this::create);
            boolean fits = found.isPresent() && grow(found.get(), bytes);
            lieOn(fits ? found : Optional.empty());
            if (!fits) {
                found.ifPresent(WorkspacePool.this::shrink);
            }
        }

        private void lieOn(Optional<Pages> next) {
            lost = true;
            boolean moved = false;
            try {
                moved = workspace.lieOn(next.isPresent() ? next.get().file : OWN);
                lost = false;
            } finally {
                leave();
                if (moved) {
                    next.get().residents.add(this);
                    pages = next;
                }
                next.ifPresent(WorkspacePool.this::shrink);
            }
        }

        /** Leaves its pages. */
        private void leave() {
            Optional<Pages> left = pages;
            pages = Optional.empty();
            if (left.isPresent()) {
                left.get().residents.remove(this);
                shrink(left.get());
            }
        }
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
