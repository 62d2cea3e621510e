package org.djlplan.memplan.internal.runtime.torch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class TorchPredictionTest {

    private final FakeWatch watch = new FakeWatch();
    private final AllocationWatch.Run run = watch.fit(null, false).orElseThrow();

    @Test
    void of_noMemoryForTheEnding_pausesAndFinishesTheRun() {
        assertThrows(
                OutOfMemoryError.class,
                () ->
                        TorchPrediction.of(
                                run,
                                () -> {
                                    throw new OutOfMemoryError();
                                }));
        AssertionError twice = assertThrows(AssertionError.class, run::pause);
        assertTrue(twice.getMessage().contains("paused twice"));
        assertEquals(0, watch.liveRuns.get());
    }

    /** A turn with a limit of 100 bytes, which records how it ends. */
    private static final class Turn implements StreamedWeights.Turn {

        private String end = "";

        @Override
        public long limitBytes() {
            return 100;
        }

        @Override
        public IllegalStateException refusal(long neededBytes) {
            return new IllegalStateException("needs " + neededBytes);
        }

        @Override
        public void end(long neededBytes, boolean failed) {
            end += neededBytes + " " + failed;
        }
    }

    @Test
    void fail_neededMoreThanTheLimit_isTheRefusalAndKeepsTheCause() {
        Turn turn = new Turn();
        TorchPrediction prediction = TorchPrediction.of(run, () -> (ended, failed) -> {});
        prediction.during(turn);
        assertEquals(100, watch.limitBytes);
        watch.neededBytes = 101;
        RuntimeException thrown = new RuntimeException("no memory");
        RuntimeException refusal = prediction.fail(thrown);
        assertEquals("needs 101", refusal.getMessage());
        assertEquals(thrown, refusal.getSuppressed()[0]);
        prediction.pause();
        assertEquals("101 true", turn.end);
    }

    @Test
    void fail_withinTheLimit_isTheFailureItself() {
        TorchPrediction prediction = TorchPrediction.of(run, () -> (ended, failed) -> {});
        prediction.during(new Turn());
        watch.neededBytes = 100;
        RuntimeException thrown = new RuntimeException("a wrong shape");
        assertEquals(thrown, prediction.fail(thrown));
        prediction.pause();
    }

    @Test
    void pause_twice_pausesTheRunOnce() {
        AtomicInteger ends = new AtomicInteger();
        TorchPrediction prediction =
                TorchPrediction.of(run, () -> (ended, failed) -> ends.incrementAndGet());
        prediction.pause();
        prediction.pause();
        prediction.finish();
        prediction.finish();
        assertEquals(1, ends.get());
    }
}
