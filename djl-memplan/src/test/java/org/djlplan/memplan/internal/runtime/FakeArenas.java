package org.djlplan.memplan.internal.runtime;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.jna.Pointer;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/** Arenas without memory behind their addresses. Fails if an arena is freed twice. */
public final class FakeArenas implements Arena.Memory {

    /** The largest size of an arena in bytes. */
    static final long MOST = 1L << 30;

    private static final long FIRST_ADDRESS = 1L << 46;

    private final AtomicLong next = new AtomicLong(FIRST_ADDRESS);
    private final Set<Long> live = ConcurrentHashMap.newKeySet();
    private final List<Long> trims = new CopyOnWriteArrayList<>();
    private final List<Long> maps = new CopyOnWriteArrayList<>();
    private volatile boolean exhausted;
    private volatile boolean inUse;

    /** Returns a pool of such arenas. */
    public ArenaPool pool() {
        return new ArenaPool(this);
    }

    /** Returns the number of arenas that are not freed. */
    public int liveCount() {
        return live.size();
    }

    /** Sets whether arrays of earlier predictions lie in each arena. */
    void setInUse(boolean used) {
        inUse = used;
    }

    /** Returns the sizes that arenas were trimmed to, in order. */
    List<Long> trims() {
        return trims;
    }

    /** Returns the sizes that arenas were asked to map at once, in order. */
    List<Long> maps() {
        return maps;
    }

    /** Makes memory run out, or be available again. */
    void exhaust(boolean none) {
        exhausted = none;
    }

    @Override
    public NativeLoader.Use use() {
        return NativeLoader.hold();
    }

    @Override
    public Pointer create(long bytes, long most) {
        if (exhausted) {
            return null;
        }
        Pointer arena = new Pointer(next.getAndAdd(MOST));
        live.add(Pointer.nativeValue(arena));
        return arena;
    }

    @Override
    public long grow(Pointer arena, long bytes) {
        return exhausted || bytes > MOST ? -1 : bytes;
    }

    @Override
    public void map(Pointer arena, long bytes) {
        maps.add(bytes);
    }

    @Override
    public boolean inUse(Pointer arena) {
        return inUse;
    }

    @Override
    public long trim(Pointer arena, long keep, long below) {
        if (below <= keep) {
            return -1;
        }
        trims.add(keep);
        return keep;
    }

    @Override
    public void free(Pointer arena) {
        assertTrue(live.remove(Pointer.nativeValue(arena)), "freed twice, or never created");
    }
}
