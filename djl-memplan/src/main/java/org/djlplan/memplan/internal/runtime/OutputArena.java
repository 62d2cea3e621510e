package org.djlplan.memplan.internal.runtime;

import com.sun.jna.Pointer;
import java.util.Optional;
import java.util.OptionalLong;
import org.djlplan.memplan.internal.thread.Pause;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The arena for allocations that are known to outlive their prediction, shared by all models. Each
 * block keeps its place until it is freed, even after the last model is closed. Memory that recent
 * predictions did not use is returned to the system in the background.
 */
public final class OutputArena {

    private static final Logger logger = LoggerFactory.getLogger(OutputArena.class);

    private static final OutputArena SHARED = new OutputArena(new Arena.Native());

    private final Arena.Memory memory;
    private Optional<Arena> arena = Optional.empty();
    private final Pause shortPause = new Pause(Pause.SHORT, () -> trimInPause(true));
    private final Pause longPause = new Pause(Pause.LONG, () -> trimInPause(false));
    private int users;

    OutputArena(Arena.Memory memory) {
        this.memory = memory;
    }

    /** Returns the arena that all models of this JVM share. */
    public static OutputArena shared() {
        return SHARED;
    }

    /**
     * Registers a model until {@link Use#close()}; the first one creates the arena.
     *
     * @param keeping of memory that the model's predictions do not use
     */
    public synchronized Use use(Keeping keeping) {
        if (arena.isEmpty()) {
            try {
                arena = Optional.of(Arena.create(1, memory));
            } catch (NoArenaException e) {
                logger.debug("outputs are in the engine's own memory", e);
            }
        }
        users++;
        return new Use(arena, keeping);
    }

    /** Returns the size of the arena in bytes, without the returned part. */
    public synchronized long bytes() {
        return arena.map(Arena::bytes).orElse(0L);
    }

    /** A model's use of the arena. */
    public final class Use implements AutoCloseable {

        private final Optional<Arena> used;
        private final Keeping keeping;
        private boolean closed;

        private Use(Optional<Arena> used, Keeping keeping) {
            this.used = used;
            this.keeping = keeping;
        }

        /** Returns the address of the arena; null if none could be created. */
        public Pointer address() {
            return used.map(Arena::address).orElse(null);
        }

        /**
         * Records a prediction.
         *
         * @param reachedBytes end of its highest block in the arena; 0 if it has none there
         */
        public void note(long reachedBytes) {
            synchronized (OutputArena.this) {
                if (closed || used.isEmpty()) {
                    return;
                }
                OptionalLong keep = used.get().note(reachedBytes, keeping);
                keep.ifPresent(kept -> trimLater(used.get(), kept));
                shortPause.await();
                longPause.await();
            }
        }

        @Override
        public void close() {
            synchronized (OutputArena.this) {
                if (!closed) {
                    closed = true;
                    users--;
                    if (users == 0) {
                        arena.ifPresent(Arena::free);
                        arena = Optional.empty();
                        shortPause.cancel();
                        longPause.cancel();
                    }
                }
            }
        }
    }

    /** Returns to the system, in the background, all of its memory that is not in use. */
    public void trim() {
        trimInPause(false);
    }

    private synchronized void trimInPause(boolean keepLast) {
        arena.ifPresent(trimmed -> trimLater(trimmed, keepLast ? trimmed.lastReachedBytes() : 0));
    }

    private static void trimLater(Arena trimmed, long keep) {
        // Even if it does not shrink: blocks beyond its size may have been freed since it shrank.
        boolean unused = trimmed.shrink(keep);
        trimmed.trimLater();
    }
}
