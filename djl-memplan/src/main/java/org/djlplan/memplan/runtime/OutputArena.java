package org.djlplan.memplan.runtime;

import com.sun.jna.Pointer;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The arena for what is known to outlive predictions, whichever model it is of. Each block keeps
 * its place until it is freed, also after the last model is closed. What the last predictions did
 * not reach is given back in the background.
 */
public final class OutputArena {

    private static final Logger logger = LoggerFactory.getLogger(OutputArena.class);

    private static final OutputArena SHARED = new OutputArena(new ArenaPool.NativeSource());

    private final ArenaPool.Source source;
    private Optional<Arena> arena = Optional.empty();
    private int users;

    OutputArena(ArenaPool.Source source) {
        this.source = source;
    }

    /** Returns the one that all models of this JVM share. */
    public static OutputArena shared() {
        return SHARED;
    }

    /** Tells of a user, until {@link Use#close()}. */
    public synchronized Use use() {
        if (arena.isEmpty()) {
            try {
                arena = Optional.of(source.create(1, true));
            } catch (NoArenaException e) {
                logger.debug("outputs are in the engine's own memory", e);
            }
        }
        users++;
        return new Use(arena);
    }

    /** Returns how many bytes of it predictions reached and were not given back. */
    public synchronized long bytes() {
        return arena.map(Arena::bytes).orElse(0L);
    }

    /** The right to have blocks placed there. */
    public final class Use implements AutoCloseable {

        private final Optional<Arena> used;
        private boolean closed;

        private Use(Optional<Arena> used) {
            this.used = used;
        }

        /** Returns where it begins; null if there is none. */
        public Pointer address() {
            return used.map(Arena::address).orElse(null);
        }

        /**
         * Notes a prediction.
         *
         * @param reachedBytes up to where its outputs lay, 0 if it had none there
         */
        public void note(long reachedBytes) {
            synchronized (OutputArena.this) {
                if (closed || used.isEmpty()) {
                    return;
                }
                OptionalLong keep = used.get().note(reachedBytes);
                keep.ifPresent(kept -> trimLater(used.get(), kept));
            }
        }

        @Override
        public void close() {
            synchronized (OutputArena.this) {
                if (!closed) {
                    closed = true;
                    users--;
                    if (users == 0) {
                        arena.ifPresent(source::free);
                        arena = Optional.empty();
                    }
                }
            }
        }
    }

    private void trimLater(Arena trimmed, long keep) {
        trimmed.beginTrim(keep);
        if (!Later.run(Duration.ZERO, () -> trim(trimmed, keep))) {
            trim(trimmed, keep);
        }
    }

    private void trim(Arena trimmed, long keep) {
        trimmed.trim(keep);
        synchronized (this) {
            trimmed.endTrim();
        }
    }
}
