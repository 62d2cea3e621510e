package org.djlplan.memplan.runtime;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.jna.Pointer;
import java.util.Comparator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** Stands for native memory: arenas at addresses that nobody can touch, each freed only once. */
public final class FakeArenas implements ArenaPool.Source {

    private static final long FIRST_ADDRESS = 1L << 46;

    private final AtomicLong next = new AtomicLong(FIRST_ADDRESS);
    private final Set<Arena> live = ConcurrentHashMap.newKeySet();
    private volatile boolean exhausted;

    /** Returns a pool of such arenas. */
    public ArenaPool pool() {
        return new ArenaPool(this);
    }

    /** Returns how many were not freed. */
    public int liveCount() {
        return live.size();
    }

    /** Frees the one that was created first, as who keeps its last block does. */
    public void freeOldest() {
        live.stream()
                .min(Comparator.comparingLong(arena -> Pointer.nativeValue(arena.address())))
                .ifPresent(this::free);
    }

    /** Lets there be no more memory, or memory again. */
    void exhaust(boolean none) {
        exhausted = none;
    }

    @Override
    public Arena create(long bytes) {
        if (exhausted) {
            throw new IllegalStateException("no memory");
        }
        long rounded = Arena.roundedBytes(bytes);
        Arena arena = new Arena(new Pointer(next.getAndAdd(rounded)), rounded, NativeLoader.hold());
        live.add(arena);
        return arena;
    }

    @Override
    public void free(Arena arena) {
        assertTrue(live.remove(arena), "freed twice, or never created: " + arena.address());
    }
}
