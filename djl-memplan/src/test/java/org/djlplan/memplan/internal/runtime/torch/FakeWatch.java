package org.djlplan.memplan.internal.runtime.torch;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.runtime.Arena;
import org.djlplan.memplan.internal.runtime.RunCounters;
import org.djlplan.memplan.internal.source.trace.AllocationTrace;

/**
 * Replaces the native library: predictions make the allocations that a test prescribes. Detects
 * runs that are not ended correctly.
 */
final class FakeWatch implements AllocationWatch {

    final AtomicInteger liveRuns = new AtomicInteger();
    final AtomicInteger livePlans = new AtomicInteger();
    final AtomicInteger recordings = new AtomicInteger();
    final AtomicInteger replays = new AtomicInteger();

    /** The result of a recording. */
    volatile Supplier<Optional<AllocationTrace>> recorded = Optional::empty;

    /** The outcome of a prediction without a plan. */
    volatile Outcome online = outcome(0, 0);

    /** The outcome of a prediction with a plan. */
    volatile Outcome placed = outcome(0, 0);

    /** What each prediction needs. */
    volatile long neededBytes;

    /** The limit of the last prediction that has one. */
    volatile long limitBytes;

    static Outcome outcome(long reachedBytes, long mostBytes) {
        long[] counters = new long[RunCounters.COUNT];
        counters[RunCounters.REACHED] = reachedBytes;
        counters[RunCounters.MOST_BYTES] = mostBytes;
        return new Outcome(counters, Set.of());
    }

    static Outcome diverged() {
        long[] counters = new long[RunCounters.COUNT];
        counters[RunCounters.DIVERGED] = 1;
        return new Outcome(counters, Set.of());
    }

    static Outcome escaped(int number) {
        long[] counters = new long[RunCounters.COUNT];
        counters[RunCounters.ALIVE] = 1;
        return new Outcome(counters, Set.of(number));
    }

    @Override
    public Optional<Run> fit(Arena arena, boolean wanted) {
        recordings.addAndGet(wanted ? 1 : 0);
        return Optional.of(new FakeRun(true));
    }

    @Override
    public void close() {}

    @Override
    public Placing take(AllocationTrace trace, OffsetPlan plan) {
        livePlans.incrementAndGet();
        return new Placing() {
            private boolean closed;

            @Override
            public Optional<Run> replay(Arena arena) {
                assertFalse(closed, "used after it was closed");
                assertTrue(arena.bytes() >= plan.totalBytes());
                replays.incrementAndGet();
                return Optional.of(new FakeRun(false));
            }

            @Override
            public void close() {
                assertFalse(closed, "closed twice");
                closed = true;
                livePlans.decrementAndGet();
            }
        };
    }

    private final class FakeRun implements AllocationWatch.Run {

        private final boolean isOnline;
        private boolean paused;
        private boolean finished;

        FakeRun(boolean isOnline) {
            this.isOnline = isOnline;
            liveRuns.incrementAndGet();
        }

        @Override
        public boolean pause() {
            assertFalse(paused, "paused twice");
            paused = true;
            return false;
        }

        @Override
        public void limit(long bytes) {
            limitBytes = bytes;
        }

        @Override
        public long neededBytes() {
            assertFalse(finished, "asked after it was finished");
            return neededBytes;
        }

        @Override
        public Optional<AllocationTrace> recorded() {
            assertTrue(isOnline && paused && !finished);
            return recorded.get();
        }

        @Override
        public Outcome finish() {
            assertTrue(paused, "finished before the pause");
            assertFalse(finished, "finished twice");
            finished = true;
            liveRuns.decrementAndGet();
            return isOnline ? online : placed;
        }
    }
}
