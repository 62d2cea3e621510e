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
