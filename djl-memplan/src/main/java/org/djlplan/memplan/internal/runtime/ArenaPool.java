package org.djlplan.memplan.internal.runtime;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;
import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import org.djlplan.thirdparty.guava.collect.Iterables;

/**
 * Arenas for simultaneous inferences of any models. Models that take turns share one arena of the
 * largest model's size instead of one each. The pool lends without waiting, because the gate limits
 * the inferences that run at once.
 *
 * <p>An arena that is too small for the next model is replaced, or grows. Idle arenas larger than
 * any model needs are freed. When the last model is closed, all idle arenas are freed.
 *
 * <p>Growing arenas are for inferences whose need is not known in advance. Memory that recent
 * inferences did not use is returned in the background. Arrays that outlive their inference may
 * stay in a growing arena, because later inferences allocate around them. Overlapping inferences
 * share one growing arena if that is worthwhile: the arena then holds as much memory as they all
 * use at one moment, not the sum of their peaks.
 */
public final class ArenaPool {

    private static final ArenaPool SHARED = new ArenaPool();

    /** The need if it is unknown. A known need is larger. */
    private static final long ANY = 1;

    /**
     * Smaller arenas are not shared, because the savings do not justify a lock at each allocation.
     */
    static final long WORTH_SHARING_BYTES = 4L << 20;

    /**
     * After this many leases without an overlap, the next lease is assumed not to overlap either.
     */
    static final int ALONE = 64;

    /** The allocator of arenas. */
    interface Source {
        Arena create(long bytes, boolean grows);

        void free(Arena arena);
    }

    static final class NativeSource implements Source {
        @Override
        public Arena create(long bytes, boolean grows) {
            return Arena.create(bytes, grows);
        }

        @Override
        public void free(Arena arena) {
            arena.free();
        }
    }

    private final Source source;
    private final ReentrantLock lock = new ReentrantLock();
    private final List<Arena> idle = new ArrayList<>();

    /** One entry per lease; a shared arena has several entries. */
    private final List<Arena> leased = new ArrayList<>();

    /** Number of leases since two were open at once, at most {@link #ALONE}. */
    private int sinceOverlap = ALONE;

    /** Number of users by the arena size that they need. */
    private final NavigableMap<Long, Integer> needs = new TreeMap<>();

    /** Number of these users with growing arenas. */
    private int growing;

    private long largestArenaBytes;

    private final Pause shortPause = new Pause(Pause.SHORT, () -> trimInPause(true));
    private final Pause longPause = new Pause(Pause.LONG, () -> trimInPause(false));

    /** Creates a pool of native memory. */
    public ArenaPool() {
        this(new NativeSource());
    }

    ArenaPool(Source source) {
        this.source = source;
    }

    /** Returns the pool that all models of this JVM share. */
    public static ArenaPool shared() {
        return SHARED;
    }

    /** Returns the current figures. */
    public ArenaMetric metric() {
        lock.lock();
        try {
            Set<Arena> used = new LinkedHashSet<>(leased);
            long bytes = 0;
            for (Arena arena : Iterables.concat(idle, used)) {
                bytes += arena.bytes();
            }
            return new ArenaMetric(idle.size() + used.size(), bytes, used.size());
        } finally {
            lock.unlock();
        }
    }

    /** Announces a user of arenas of {@code bytes}, until {@link Need#close()}. */
    public Need announce(long bytes) {
        checkArgument(bytes > 0, "an arena of %s bytes", bytes);
        return announce(Math.max(bytes, ANY + 1), false, Keeping.LONG);
    }

    private Need announce(long bytes, boolean grows, Keeping keeping) {
        lock.lock();
        try {
            needs.merge(bytes, 1, Integer::sum);
            growing += grows ? 1 : 0;
            needsChanged();
            return new Need(bytes, grows, keeping);
        } finally {
            lock.unlock();
        }
    }

    /** Announces a user of growing arenas whose size is unknown, until {@link Need#close()}. */
    public Need announceAny() {
        return announceAny(Keeping.LONG);
    }

    /**
     * Does the same.
     *
     * @param keeping of the memory that its inferences use
     */
    public Need announceAny(Keeping keeping) {
        return announce(ANY, true, keeping);
    }

    /** The right to lease arenas of one size; closing it allows the pool to shrink. */
    public final class Need implements AutoCloseable {

        private final long bytes;
        private final boolean grows;
        private final Keeping keeping;
        private boolean closed;

        private Need(long bytes, boolean grows, Keeping keeping) {
            this.bytes = bytes;
            this.grows = grows;
            this.keeping = keeping;
        }

        /**
         * Returns an arena that no other inference uses until the lease is closed, for an inference
         * that writes all of it.
         *
         * @throws NoArenaException if there is no memory for one
         */
        public Lease lease() {
            return ArenaPool.this.lease(this, bytes);
        }

        /**
         * Returns an arena of so many bytes as {@link #lease()} does, for a user that learns the
         * size only now. The arena grows if necessary, and returns memory that the last leases did
         * not ask for.
         *
         * @throws NoArenaException if there is no memory for one
         */
        public Lease lease(long wantedBytes) {
            checkState(grows, "arenas of this need do not grow");
            return ArenaPool.this.lease(this, wantedBytes);
        }

        /**
         * Returns an arena that no other inference uses until the lease is closed; inferences of
         * unknown size may share one. Empty if this need is closed.
         *
         * @throws NoArenaException if there is no memory for one
         */
        public Optional<Lease> tryLease() {
            return ArenaPool.this.tryLease(this);
        }

        /** Trims all arenas of the pool, as {@link ArenaPool#trimAll} does. */
        public void trimPool() {
            trimAll();
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
            return ArenaPool.this.tryLeaseAlone(this, atLeastBytes);
        }

        @Override
        public void close() {
            boolean wasLargest = false;
            lock.lock();
            try {
                if (!closed) {
                    closed = true;
                    needs.computeIfPresent(bytes, (size, users) -> users == 1 ? null : users - 1);
                    growing -= grows ? 1 : 0;
                    needsChanged();
                    wasLargest = growing > 0 && (needs.isEmpty() || bytes >= needs.lastKey());
                }
            } finally {
                lock.unlock();
            }
            if (wasLargest) {
                trimIdle();
            }
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
         * @param reachedBytes the end of the part that was used, if the arena grows
         */
        public void close(long reachedBytes) {
            OptionalLong keep;
            lock.lock();
            try {
                keep = giveBack(reachedBytes);
                if (growing > 0) {
                    shortPause.await();
                    longPause.await();
                }
            } finally {
                lock.unlock();
            }
            if (keep.isPresent()) {
                arena.trimLater();
            }
        }

        /**
         * Closes the lease of an arena in which arrays stay, so that plans get another arena. The
         * pool drops it, and it is freed with the last of these arrays, once no lease of it is
         * open.
         */
        public void abandon() {
            lock.lock();
            try {
                if (!closed) {
                    closed = true;
                    leased.remove(arena);
                    arena.abandon();
                    freeUnlessLeased(arena);
                }
            } finally {
                lock.unlock();
            }
        }

        private OptionalLong giveBack(long reachedBytes) {
            if (closed) {
                return OptionalLong.empty();
            }
            closed = true;
            leased.remove(arena);
            OptionalLong keep = arena.note(need.grows ? reachedBytes : bytes, need.keeping);
            boolean last = !leased.contains(arena);
            if (arena.outdated() && last) {
                arena.setOutdated(false);
                keep = OptionalLong.of(neededBytes());
            }
            if (arena.abandoned() || isTooLarge(arena)) {
                arena.abandon();
                freeUnlessLeased(arena);
                keep = OptionalLong.empty();
            } else if (last) {
                // The last used arena comes first, so that of equal arenas always the same one is
                // used.
                idle.add(0, arena);
            }
            if (keep.isPresent()) {
                arena.shrink(keep.getAsLong());
            }
            return keep;
        }
    }

    private void freeUnlessLeased(Arena arena) {
        if (!leased.contains(arena)) {
            source.free(arena);
        }
    }

    private boolean isTooLarge(Arena arena) {
        return !(arena.grows() && growing > 0) && arena.bytes() > largestArenaBytes;
    }

    private Lease lease(Need need, long bytes) {
        Lease lease = leaseUnmapped(need, bytes);
        try {
            lease.arena().map(bytes);
        } catch (RuntimeException | Error e) {
            lease.close(0);
            throw e;
        }
        return lease;
    }

    private Lease leaseUnmapped(Need need, long bytes) {
        lock.lock();
        try {
            checkState(!need.closed, "the need of an arena is over");
            return take(need, bytes);
        } finally {
            lock.unlock();
        }
    }

    private Optional<Lease> tryLease(Need need) {
        lock.lock();
        try {
            return need.closed ? Optional.empty() : Optional.of(take(need, need.bytes));
        } finally {
            lock.unlock();
        }
    }

    private boolean isAlone(Need need) {
        lock.lock();
        try {
            return !need.closed && leased.isEmpty() && sinceOverlap >= ALONE;
        } finally {
            lock.unlock();
        }
    }

    private Optional<Lease> tryLeaseAlone(Need need, long bytes) {
        lock.lock();
        try {
            if (!isAlone(need)) {
                return Optional.empty();
            }
            Arena arena = takeIdle(need, bytes);
            arena.setJoinable(false);
            return Optional.of(lease(need, need.bytes, arena));
        } finally {
            lock.unlock();
        }
    }

    private Lease lease(Need need, long bytes, Arena arena) {
        sinceOverlap = leased.isEmpty() ? Math.min(sinceOverlap + 1, ALONE) : 0;
        if (sinceOverlap == ALONE) {
            for (Arena other : idle) {
                passOver(other);
            }
        }
        leased.add(arena);
        return new Lease(need, bytes, arena);
    }

    private Lease take(Need need, long bytes) {
        Arena arena = bytes == ANY ? takeLeased().orElse(null) : null;
        if (arena == null) {
            arena = takeIdle(need, bytes);
            arena.setJoinable(bytes == ANY);
        }
        return lease(need, bytes, arena);
    }

    /** Returns an arena that other inferences use, if sharing it is worthwhile. */
    private Optional<Arena> takeLeased() {
        Optional<Arena> shared =
                leased.stream()
                        .filter(arena -> arena.joinable() && arena.bytes() >= WORTH_SHARING_BYTES)
                        .findFirst();
        if (shared.isPresent()) {
            for (Arena other : idle) {
                passOver(other);
            }
        }
        return shared;
    }

    /**
     * Counts a lease that did not use this idle arena, so that the arena returns its memory after
     * several such leases.
     */
    private void passOver(Arena arena) {
        OptionalLong keep = arena.note(0);
        if (keep.isPresent()) {
            arena.shrink(keep.getAsLong());
            arena.trimLater();
        }
    }

    /**
     * Returns the smallest idle arena that is large enough; otherwise the largest one grows, or is
     * replaced by a new one. Leases of growing arenas that do not overlap all use the largest.
     */
    private Arena takeIdle(Need need, long bytes) {
        boolean one = need.grows && sinceOverlap == ALONE;
        long wanted = bytes == ANY || one ? ANY : Arena.roundedBytes(bytes);
        Arena best = null;
        for (Arena arena : idle) {
            if (suits(need, bytes, arena)
                    && (best == null || fitsBetter(arena.bytes(), best.bytes(), wanted))) {
                best = arena;
            }
        }
        if (best == null) {
            best = idle.stream().filter(arena -> !arena.grows()).findAny().orElse(null);
        }
        if (best != null) {
            idle.remove(best);
            if (suits(need, bytes, best) && best.ensure(bytes)) {
                return best;
            }
            source.free(best);
        }
        return create(bytes, need.grows);
    }

    /** A plan needs an arena that contains no arrays. */
    private static boolean suits(Need need, long bytes, Arena arena) {
        boolean placed = need.bytes == ANY && bytes != ANY;
        return need.grows ? arena.grows() && (!placed || arena.isEmpty()) : arena.isEmpty();
    }

    /**
     * Returns the memory of idle growing arenas to the system, except for the largest known need;
     * to be called when a need becomes known.
     */
    public void trimIdle() {
        trimIdle(false);
    }

    /**
     * Trims idle arenas now, and arenas in use when they are returned, because later inferences
     * need much less.
     */
    public void trimAll() {
        lock.lock();
        try {
            for (Arena arena : leased) {
                arena.setOutdated(arena.grows());
            }
        } finally {
            lock.unlock();
        }
        trimIdle();
    }

    private long neededBytes() {
        return needs.isEmpty() ? 0 : needs.lastKey();
    }

    /**
     * @param keepLast whether to keep what the last inference used
     */
    private void trimIdle(boolean keepLast) {
        List<Arena> shrunk = new ArrayList<>();
        lock.lock();
        try {
            long needed = neededBytes();
            for (Arena arena : idle) {
                long keep = keepLast ? Math.max(needed, arena.lastReachedBytes()) : needed;
                if (arena.grows() && arena.bytes() > Arena.roundedBytes(keep)) {
                    arena.shrink(keep);
                    shrunk.add(arena);
                }
            }
        } finally {
            lock.unlock();
        }
        for (Arena arena : shrunk) {
            arena.trim();
        }
    }

    /**
     * Trims if no arena is in use.
     *
     * @param keepLast whether to keep what the last inference used, because the next one may need
     *     the same
     */
    void trimInPause(boolean keepLast) {
        boolean used;
        lock.lock();
        try {
            used = !leased.isEmpty();
        } finally {
            lock.unlock();
        }
        if (used) {
            (keepLast ? shortPause : longPause).await();
        } else {
            trimIdle(keepLast);
        }
    }

    /**
     * Frees idle arenas, so that the caller can use their memory. They are created again when they
     * are needed.
     */
    public void freeIdle() {
        lock.lock();
        try {
            idle.forEach(source::free);
            idle.clear();
        } finally {
            lock.unlock();
        }
    }

    /** Creates an arena; if memory is short, it first frees the idle ones. */
    private Arena create(long bytes, boolean grows) {
        try {
            return source.create(bytes, grows);
        } catch (NoArenaException e) {
            if (idle.isEmpty()) {
                throw e;
            }
            freeIdle();
            return source.create(bytes, grows);
        }
    }

    /** If the required size is unknown, the largest arena fits best. */
    private static boolean fitsBetter(long size, long best, long wanted) {
        boolean enough = wanted != ANY && best >= wanted;
        return enough ? size >= wanted && size < best : size > best;
    }

    /** Frees idle arenas that are larger than any remaining user needs. */
    private void needsChanged() {
        if (growing == 0) {
            shortPause.cancel();
            longPause.cancel();
        }
        largestArenaBytes = needs.isEmpty() ? 0 : Arena.roundedBytes(needs.lastKey());
        idle.removeIf(
                arena -> {
                    boolean tooLarge = isTooLarge(arena);
                    if (tooLarge) {
                        source.free(arena);
                    }
                    return tooLarge;
                });
    }
}
