package org.djlplan.memplan.internal.serving;

import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.djlplan.memplan.internal.machine.ProcessorTimes;

/**
 * Estimates how many processors other programs leave idle, from samples of the processor time of
 * all programs and of this process. The estimate falls at once, and rises only after a while
 * without load by other programs. Not thread-safe: the lock of {@link Processors} guards it.
 */
final class IdleProcessors {

    /** How often the machine's load is sampled; less often if sampling takes long. */
    static final Duration SAMPLE = Duration.ofMillis(250);

    private static final int SHARE_OF_SAMPLES = 200;

    /** The share of an idle processor that other work may use. */
    private static final double SLACK = 0.25;

    private final int cores;
    private final LongSupplier clock;
    private final Supplier<Optional<ProcessorTimes.Reading>> times;

    /** The estimate, as a number of threads. */
    private int threads = 1;

    /** Its time is over when other programs have not used the processors for a while. */
    private final Processors.Patience loads;

    private long nextSample;
    private Optional<Sample> last = Optional.empty();

    /** Whether a pass had several threads since the last sample; these may still wait actively. */
    private boolean wideSinceSample;

    private record Sample(long atNanos, ProcessorTimes.Reading reading) {}

    /**
     * @param cores how many this process may keep busy
     * @param clock nanoseconds since an arbitrary moment
     * @param times reads the processor times; empty if the system does not report them
     */
    IdleProcessors(
            int cores, LongSupplier clock, Supplier<Optional<ProcessorTimes.Reading>> times) {
        this.cores = cores;
        this.clock = clock;
        this.times = times;
        nextSample = clock.getAsLong();
        loads = new Processors.Patience(nextSample);
    }

    /** Returns how many threads can run on idle processors, from 1 to the number of processors. */
    int threads() {
        return threads;
    }

    /** Notes that a pass of several threads ended. */
    void noteWide() {
        wideSinceSample = true;
    }

    /** Samples the load, unless the last sample is recent. No pass may run. */
    void look(long now) {
        if (now - nextSample < 0) {
            return;
        }
        Optional<ProcessorTimes.Reading> reading = times.get();
        nextSample = now + Math.max(SAMPLE.toNanos(), SHARE_OF_SAMPLES * (clock.getAsLong() - now));
        if (reading.isEmpty()) {
            // Not reported: only overlapping passes and latencies limit threads.
            threads = cores;
        } else {
            last.ifPresent(before -> compare(before, now, reading.get()));
        }
        last = reading.map(r -> new Sample(now, r));
        wideSinceSample = false;
    }

    private void compare(Sample before, long now, ProcessorTimes.Reading reading) {
        long own = reading.ownNanos() - before.reading().ownNanos();
        if (!wideSinceSample) {
            // At most one thread predicts; any more are the application's own load.
            own = Math.min(own, now - before.atNanos());
        }
        double others =
                (double) Math.max(0, reading.busyNanos() - before.reading().busyNanos() - own)
                        / (now - before.atNanos());
        int free = (int) Math.max(1, Math.min(cores, reading.processors() - others + SLACK));
        if (free <= threads && free < cores) {
            loads.begin(now);
        }
        if (free < threads || loads.isOver(now)) {
            threads = free;
        }
    }
}
