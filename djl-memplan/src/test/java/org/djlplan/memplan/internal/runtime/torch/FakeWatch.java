package org.djlplan.memplan.internal.runtime.torch;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.djlplan.memplan.internal.formula.QuickPlan;
import org.djlplan.memplan.internal.runtime.Arena;
import org.djlplan.memplan.internal.source.trace.AllocationTrace;

/**
 * Replaces the native library: predictions make the allocations that a test prescribes. Detects
 * runs that are not ended correctly.
 */
final class FakeWatch implements AllocationWatch {

    /** The outcome of a prediction that ran as planned. */
    static final Outcome AS_PLANNED = outcome(1, 0, 0, 0, Set.of());

    final AtomicInteger liveRuns = new AtomicInteger();
    final AtomicInteger livePlans = new AtomicInteger();
    final AtomicInteger recordings = new AtomicInteger();

    /** Number of predictions without a plan, including recordings. */
    final AtomicInteger fits = new AtomicInteger();

    final AtomicInteger replays = new AtomicInteger();

    /** The result of a recording. */
    volatile Supplier<Optional<AllocationTrace>> recorded = Optional::empty;

    /** The outcome of a prediction with a plan. */
    volatile Outcome outcome = AS_PLANNED;

    /** Whether the thread already has a current run. */
    volatile boolean occupied;

    /** Whether there is no memory for runs. */
    volatile boolean outOfMemory;

    /** Whether there is no memory for outcomes. */
    volatile boolean outOfMemoryAtEnd;

    /** Whether nothing that is placed outlives the forward pass. */
    volatile boolean endsWithPass;

    /** Whether plans are refused. */
    volatile boolean refuses;

    /** Runs when a plan is closed. */
    volatile Runnable whenClosed = () -> {};

    static Outcome outcome(
            long placed, long refused, long diverged, long missing, Set<Integer> alive) {
        return new Outcome(placed, refused, diverged, missing, 0, alive, alive.size(), 0, 0);
    }

    @Override
    public Optional<Run> fit(Arena arena, boolean wanted) {
        requireMemory();
        if (occupied) {
            return Optional.empty();
        }
        fits.incrementAndGet();
        recordings.addAndGet(wanted ? 1 : 0);
        return Optional.of(new FakeRun(true));
    }

    private void requireMemory() {
        if (outOfMemory) {
            throw new OutOfMemoryError();
        }
    }

    @Override
    public void close() {}

    @Override
    public Placing take(AllocationPlans.Placement placement) {
        return take(placement.plan().arenaBytes());
    }

    @Override
    public Placing take(QuickPlan plan) {
        return take(plan.arenaBytes());
    }

    private Placing take(long arenaBytes) {
        if (refuses) {
            throw new IllegalArgumentException("refused");
        }
        livePlans.incrementAndGet();
        return new Placing() {
            private boolean closed;

            @Override
            public Optional<Run> replay(Arena arena) {
                assertFalse(closed, "used after it was closed");
                assertTrue(arena.bytes() >= arenaBytes);
                requireMemory();
                if (occupied) {
                    return Optional.empty();
                }
                replays.incrementAndGet();
                return Optional.of(new FakeRun(false));
            }

            @Override
            public void close() {
                assertFalse(closed, "closed twice");
                closed = true;
                whenClosed.run();
                livePlans.decrementAndGet();
            }
        };
    }

    private final class FakeRun implements AllocationWatch.Run {

        private final boolean recording;
        private boolean paused;
        private boolean finished;

        FakeRun(boolean recording) {
            this.recording = recording;
            liveRuns.incrementAndGet();
        }

        @Override
        public boolean pause() {
            assertFalse(paused, "paused twice");
            paused = true;
            return !recording && endsWithPass;
        }

        @Override
        public Optional<AllocationTrace> recorded() {
            assertTrue(recording && paused && !finished);
            return recorded.get();
        }

        @Override
        public Outcome finish() {
            assertTrue(paused, "finished before the pause");
            assertFalse(finished, "finished twice");
            finished = true;
            liveRuns.decrementAndGet();
            if (outOfMemoryAtEnd) {
                throw new OutOfMemoryError();
            }
            return recording ? outcome(0, 0, 0, 0, Set.of()) : outcome;
        }
    }
}
