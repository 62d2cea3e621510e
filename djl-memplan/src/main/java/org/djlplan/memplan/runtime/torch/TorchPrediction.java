package org.djlplan.memplan.runtime.torch;

import java.util.Optional;
import java.util.function.Consumer;

/**
 * One prediction on one thread. Between its beginning and {@link #pause()} the thread's allocations
 * are recorded or placed; frees count until {@link #finish()}, so that arrays which are closed
 * after the call still belong to it.
 */
public final class TorchPrediction {

    private final Optional<TorchRun> run;
    private final Consumer<TorchRun> atEnd;
    private boolean paused;
    private boolean finished;

    TorchPrediction(TorchRun run, Consumer<TorchRun> atEnd) {
        this.run = Optional.of(run);
        this.atEnd = atEnd;
    }

    private TorchPrediction() {
        run = Optional.empty();
        atEnd = unused -> {};
    }

    /** Returns a prediction that the engine's allocator serves. */
    static TorchPrediction unplanned() {
        return new TorchPrediction();
    }

    /** Ends the allocations; on the thread on which the prediction began. Idempotent. */
    public synchronized void pause() {
        if (!paused) {
            paused = true;
            run.ifPresent(unused -> TorchRun.pause());
        }
    }

    /** Ends the prediction, after the pause, on any thread. Idempotent. */
    public synchronized void finish() {
        if (paused && !finished) {
            finished = true;
            run.ifPresent(atEnd);
        }
    }
}
