package org.djlplan.memplan.internal.planning.budget;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import org.djlplan.memplan.internal.thread.Later;
import org.djlplan.thirdparty.guava.annotations.VisibleForTesting;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs the progress while a copy of a model is made, because making a large copy takes a while. */
final class CopyProgress implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(CopyProgress.class);

    private static final Duration EVERY = Duration.ofSeconds(10);
    private static final long WHOLE_PERCENT = 100;

    private final String model;
    private final Duration every;
    private volatile Optional<Path> file = Optional.empty();
    private volatile long expectedBytes;
    private long beginNanos;

    /**
     * @param model name for the user
     */
    CopyProgress(String model) {
        this(model, EVERY);
    }

    @VisibleForTesting
    CopyProgress(String model, Duration every) {
        this.model = model;
        this.every = every;
    }

    /**
     * Called when a copy begins, possibly again in another place.
     *
     * @param place of the file that will be written
     * @param bytes its expected size, which {@link #expect} may correct
     */
    void begin(Path place, long bytes) {
        boolean again = file.isPresent();
        expectedBytes = bytes;
        file = Optional.of(place);
        if (!again) {
            beginNanos = System.nanoTime();
            boolean unused = Later.run(every, this::tell);
        }
    }

    /** Sets a more precise size. */
    void expect(long bytes) {
        expectedBytes = bytes;
    }

    private void tell() {
        Optional<Path> now = file;
        if (now.isEmpty()) {
            return;
        }
        try {
            long percent = WHOLE_PERCENT * Files.size(now.get()) / Math.max(1, expectedBytes);
            logger.info("{}: {} % of the copy is written", model, Math.min(percent, WHOLE_PERCENT));
        } catch (IOException e) {
            logger.debug("{} is not there yet, or has its name by now", now.get(), e);
        }
        boolean unused = Later.run(every, this::tell);
    }

    /** Logs that a copy is made, if one was begun. */
    void finish() {
        if (file.isPresent()) {
            logger.info(
                    "{}: the copy is made, in {} s",
                    model,
                    String.format(Locale.ROOT, "%.1f", (System.nanoTime() - beginNanos) / 1e9));
        }
    }

    /** Logs no more. */
    @Override
    public void close() {
        file = Optional.empty();
    }
}
