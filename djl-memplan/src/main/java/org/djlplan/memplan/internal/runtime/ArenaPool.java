package org.djlplan.memplan.internal.runtime;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;
import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.djlplan.memplan.internal.thread.Pause;
import org.djlplan.thirdparty.guava.collect.Iterables;

/**
 * Arenas for simultaneous inferences of any models. Models that take turns share one arena, which
 * grows to the largest model's size. The pool lends without waiting, because the gate limits the
 * inferences that run at once.
 *
 * <p>Memory that recent inferences did not use is returned in the background, except for as much as
 * the largest need that is known in advance. When the last model is closed, all idle arenas are
 * freed.
 *
 * <p>Each inference has its arena for itself: if overlapping ones shared an arena, each would often
 * get memory that another core has just written, which takes up to 1.4 times as long. Arrays that
 * outlive their inference may stay in an arena: later inferences of unknown size allocate around
 * them, and others get another arena.
 */
public final class ArenaPool {

    private static final ArenaPool SHARED = new ArenaPool();

    /** The need if it is unknown. A known need is larger. */
    private static final long ANY = 1;

    /**
     * After this many leases without an overlap, the next lease is assumed not to overlap either.
     */
    static final int ALONE = 64;

    private final Arena.Memory memory;

    // Guarded by this.

    /** The last used arena comes first, so that of equal arenas always the same one is used. */
    private final List<Arena> idle = new ArrayList<>();

    private final List<Arena> leased = new ArrayList<>();

    /** Number of leases since two were open at once, at most {@link #ALONE}. */
    private int sinceOverlap = ALONE;

    /** Number of users by the arena size that they need. */
    private final NavigableMap<Long, Integer> needs = new TreeMap<>();

    private final Pause shortPause = new Pause(Pause.SHORT, () -> trimInPause(true));
    private final Pause longPause = new Pause(Pause.LONG, () -> trimInPause(false));

    /** Creates a pool of native memory. */
    public ArenaPool() {
        this(new Arena.Native());
    }

    ArenaPool(Arena.Memory memory) {
        this.memory = memory;
    }

    /** Returns the pool that all models of this JVM share. */
    public static ArenaPool shared() {
        return SHARED;
    }

    /** Returns the current figures. */
    public synchronized ArenaMetric metric() {
        long bytes = 0;
        for (Arena arena : Iterables.concat(idle, leased)) {
            bytes += arena.bytes();
        }
        return new ArenaMetric(idle.size() + leased.size(), bytes, leased.size());
    }

    /** Announces a user of arenas of {@code bytes}, until {@link Need#close()}. */
    public Need announce(long bytes) {
        checkArgument(bytes > 0, "an arena of %s bytes", bytes);
        return new Need(Math.max(bytes, ANY + 1), Keeping.LONG);
    }

    /**
     * Announces a user of arenas whose size is unknown, until {@link Need#close()}.
     *
     * @param keeping of the memory that its inferences use
     */
    public Need announceAny(Keeping keeping) {
        return new Need(ANY, keeping);
    }

    /** The right to lease arenas of one size; closing it allows the pool to shrink. */
    public final class Need implements AutoCloseable {

        private final long bytes;
        private final Keeping keeping;
        private boolean closed;

        private Need(long bytes, Keeping keeping) {
            this.bytes = bytes;
            this.keeping = keeping;
            synchronized (ArenaPool.this) {
                needs.merge(bytes, 1, Integer::sum);
            }
        }

        /**
         * Returns an arena that no other inference uses until the lease is closed, for an inference
         * that writes all of it.
         *
         * @param wantedBytes its size
         * @throws NoArenaException if there is no memory for one
         */
        public Lease lease(long wantedBytes) {
            Optional<Lease> lease = tryLease(wantedBytes);
            checkState(lease.isPresent(), "the need of an arena is over");
            try {
                lease.get().arena().map(wantedBytes);
            } catch (RuntimeException | Error e) {
                lease.get().close(0);
                throw e;
            }
            return lease.get();
        }

        /**
         * Returns an arena that no other inference uses until the lease is closed; empty if this
         * need is closed.
         *
         * @throws NoArenaException if there is no memory for one
         */
        public Optional<Lease> tryLease() {
            return tryLease(bytes);
        }

        private Optional<Lease> tryLease(long wantedBytes) {
            synchronized (ArenaPool.this) {
                return closed
                        ? Optional.empty()
                        : Optional.of(
                                lend(this, takeIdle(wantedBytes, wantedBytes == ANY), wantedBytes));
            }
        }

        /**
         * Returns an arena that no other inference uses until the lease is closed; empty if another
         * lease of this pool is open, if recent leases overlapped, or if this need is closed. Does
         * not wait.
         *
         * @param atLeastBytes its size
         * @throws NoArenaException if there is no memory for one
         */
        public Optional<Lease> tryLeaseAlone(long atLeastBytes) {
            synchronized (ArenaPool.this) {
                if (closed || !leased.isEmpty() || sinceOverlap < ALONE) {
                    return Optional.empty();
                }
                Arena arena = takeIdle(atLeastBytes, false);
                arena.mayHoldArrays();
                return Optional.of(lend(this, arena, bytes));
            }
        }

        /** Trims all arenas of the pool, as {@link ArenaPool#trimAll} does. */
        public void trimPool() {
            trimAll();
        }

        @Override
        public void close() {
            synchronized (ArenaPool.this) {
                if (closed) {
                    return;
                }
                closed = true;
                needs.computeIfPresent(bytes, (size, users) -> users == 1 ? null : users - 1);
                if (bytes > ANY && bytes <= neededBytes()) {
                    return;
                }
                if (needs.isEmpty()) {
                    shortPause.cancel();
                    longPause.cancel();
                    freeIdle();
                }
            }
            trimAll();
        }
    }

    /** An arena in use. */
    public final class Lease implements AutoCloseable {

        private final Need need;
        private final long bytes;
        private final Arena arena;
        private boolean closed;

        private Lease(Need need, long bytes, Arena arena) {
            this.need = need;
            this.bytes = bytes;
            this.arena = arena;
        }

        /** Returns the arena; never to be used after {@link #close()}. */
        public Arena arena() {
            checkState(!closed, "the lease is over");
            return arena;
        }

        @Override
        public void close() {
            close(bytes == ANY ? 0 : bytes);
        }

        /**
         * Closes the lease.
         *
         * @param reachedBytes the end of the part that was used
         */
        public void close(long reachedBytes) {
            boolean shrunk;
            synchronized (ArenaPool.this) {
                shrunk = giveBack(reachedBytes);
                if (need.bytes == ANY && !needs.isEmpty()) {
                    shortPause.await();
                    longPause.await();
                }
            }
            if (shrunk) {
                arena.trimLater();
            }
        }

        /**
         * Closes the lease of an arena in which arrays stay, so that plans get another arena. The
         * pool drops it, and it is freed with the last of these arrays.
         */
        public void abandon() {
            synchronized (ArenaPool.this) {
                if (!closed) {
                    end();
                    arena.free();
                }
            }
        }

        private void end() {
            closed = true;
            leased.remove(arena);
        }

        /** Returns whether memory of the arena is to be returned to the system. */
        private boolean giveBack(long reachedBytes) {
            if (closed) {
                return false;
            }
            end();
            OptionalLong keep = arena.note(reachedBytes, need.keeping);
            if (needs.isEmpty()) {
                arena.free();
                return false;
            }
            idle.add(0, arena);
            if (arena.outdated()) {
                arena.setOutdated(false);
                keep = OptionalLong.of(0);
            }
            return keep.isPresent() && arena.shrink(Math.max(keep.getAsLong(), neededBytes()));
        }
    }

    private Lease lend(Need need, Arena arena, long bytes) {
        sinceOverlap = leased.isEmpty() ? Math.min(sinceOverlap + 1, ALONE) : 0;
        if (sinceOverlap == ALONE) {
            passOverIdle();
        }
        leased.add(arena);
        return new Lease(need, bytes, arena);
    }

    /**
     * Counts a lease that did not use the idle arenas, so that they return their memory after
     * several such leases.
     */
    private void passOverIdle() {
        for (Arena arena : idle) {
            OptionalLong keep = arena.note(0, Keeping.LONG);
            if (keep.isPresent() && arena.shrink(keep.getAsLong())) {
                arena.trimLater();
            }
        }
    }

    /**
     * Returns the smallest idle arena that is large enough; otherwise the largest one grows, or is
     * replaced by a new one. Leases that do not overlap all use the largest.
     *
     * @param online whether allocations are placed online, around arrays that are in the arena;
     *     others need an arena that contains no arrays
     */
    private Arena takeIdle(long bytes, boolean online) {
        long wanted = online || sinceOverlap == ALONE ? ANY : Arena.roundedBytes(bytes);
        Optional<Arena> best = Optional.empty();
        for (Arena arena : idle) {
            if ((online || arena.isEmpty())
                    && (best.isEmpty() || fitsBetter(arena.bytes(), best.get().bytes(), wanted))) {
                best = Optional.of(arena);
            }
        }
        if (best.isPresent()) {
            idle.remove(best.get());
            if (!best.get().ensure(bytes)) {
                best.get().free();
                best = Optional.empty();
            }
        }
        Arena arena = best.isPresent() ? best.get() : create(bytes);
        if (online) {
            arena.mayHoldArrays();
        }
        return arena;
    }

    /** If the required size is unknown, the largest arena fits best. */
    private static boolean fitsBetter(long size, long best, long wanted) {
        boolean enough = wanted != ANY && best >= wanted;
        return enough ? size >= wanted && size < best : size > best;
    }

    /** Creates an arena; if memory is short, it first frees the idle ones. */
    private Arena create(long bytes) {
        try {
            return Arena.create(bytes, memory);
        } catch (NoArenaException e) {
            if (idle.isEmpty()) {
                throw e;
            }
            freeIdle();
            return Arena.create(bytes, memory);
        }
    }

    /**
     * Returns memory to the system, except for the largest known need, because later inferences
     * need much less: the memory of idle arenas now, and that of arenas in use when they are
     * returned.
     */
    public void trimAll() {
        synchronized (this) {
            leased.forEach(arena -> arena.setOutdated(true));
        }
        trimIdle(false);
    }

    private long neededBytes() {
        return needs.isEmpty() ? 0 : needs.lastKey();
    }

    /**
     * @param keepLast whether to keep what the last inference used
     */
    private void trimIdle(boolean keepLast) {
        List<Arena> shrunk = new ArrayList<>();
        synchronized (this) {
            for (Arena arena : idle) {
                if (arena.shrink(
                        Math.max(neededBytes(), keepLast ? arena.lastReachedBytes() : 0))) {
                    shrunk.add(arena);
                }
            }
        }
        shrunk.forEach(Arena::trim);
    }

    /**
     * Trims if no arena is in use.
     *
     * @param keepLast whether to keep what the last inference used, because the next one may need
     *     the same
     */
    void trimInPause(boolean keepLast) {
        if (metric().leased() > 0) {
            (keepLast ? shortPause : longPause).await();
        } else {
            trimIdle(keepLast);
        }
    }

    /**
     * Frees idle arenas, so that the caller can use their memory. They are created again when they
     * are needed.
     */
    public synchronized void freeIdle() {
        idle.forEach(Arena::free);
        idle.clear();
    }
}
