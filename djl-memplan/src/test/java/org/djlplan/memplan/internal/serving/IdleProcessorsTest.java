package org.djlplan.memplan.internal.serving;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Optional;
import org.djlplan.memplan.internal.machine.ProcessorTimes;
import org.junit.jupiter.api.Test;

/** Tests the sampling of idle processors on a simulated machine with four processors. */
class IdleProcessorsTest {

    private static final int CORES = 4;
    private static final long SECOND = 1_000_000_000;

    private long now = 17;
    private double busyNanos;
    private double ownNanos;
    private boolean told = true;
    private int samples;

    private final IdleProcessors idle = new IdleProcessors(CORES, () -> now, this::read);

    private Optional<ProcessorTimes.Reading> read() {
        samples++;
        return told
                ? Optional.of(new ProcessorTimes.Reading((long) busyNanos, (long) ownNanos, CORES))
                : Optional.empty();
    }

    /** Lets time pass while this program and others keep processors busy, and takes a sample. */
    private int threadsAfter(long nanos, double own, double others) {
        now += nanos;
        ownNanos += own * nanos;
        busyNanos += (own + others) * nanos;
        idle.look(now);
        return idle.threads();
    }

    @Test
    void look_othersWorked_risesOnlyAfterQuiet() {
        assertEquals(1, threadsAfter(0, 0, 0));
        assertEquals(1, threadsAfter(SECOND / 2, 1, 2.5));
        assertEquals(1, threadsAfter(SECOND / 2, 1, 0));
        assertEquals(CORES, threadsAfter(SECOND, 1, 0));
    }

    @Test
    void look_othersBegin_fallsAtOnce() {
        threadsAfter(0, 0, 0);
        assertEquals(CORES, threadsAfter(2 * SECOND, 1, 0));
        assertEquals(2, threadsAfter(SECOND / 2, 1, 2));
    }

    /** Threads of the application that do not predict are not passes, but load. */
    @Test
    void look_ownThreadsBesidesPasses_areLoadUnlessAPassWasWide() {
        threadsAfter(0, 0, 0);
        threadsAfter(2 * SECOND, 1, 0);
        idle.noteWide();
        assertEquals(CORES, threadsAfter(SECOND, 3, 0));
        assertEquals(2, threadsAfter(SECOND, 3, 0));
    }

    @Test
    void look_justBefore_samplesNoMore() {
        threadsAfter(0, 0, 0);
        threadsAfter(IdleProcessors.SAMPLE.toNanos() - 1, 1, 3);
        assertEquals(1, samples);
        threadsAfter(1, 1, 3);
        assertEquals(2, samples);
    }

    @Test
    void look_nobodyTells_isAllProcessors() {
        told = false;
        assertEquals(CORES, threadsAfter(0, 0, 0));
    }
}
