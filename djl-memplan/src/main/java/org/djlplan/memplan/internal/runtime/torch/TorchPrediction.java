package org.djlplan.memplan.internal.runtime.torch;

import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.djlplan.memplan.internal.runtime.NativeLoader;

/**
 * One prediction on one thread. Between its beginning and {@link #pause()} the thread's allocations
 * get places in an arena; frees are recorded until {@link #finish()}, so that arrays closed after
 * the call still belong to it.
 */
public final class TorchPrediction {

    private final Optional<AllocationWatch.Run> run;
    private final Ending atEnd;
    private Optional<StreamedWeights.Turn> turn = Optional.empty();
    private Optional<Passes.Pass> pass = Optional.empty();
    private boolean paused;
    private boolean failed;
    private boolean finished;

    /** How a run ends. */
    @FunctionalInterface
    interface Ending {

        /**
         * Ends it.
         *
         * @param failed whether the forward pass ended early, and with it the allocations
         */
        void end(AllocationWatch.Run run, boolean failed);
    }

    /** Wraps an ending, so that its errors do not affect the caller of the prediction. */
    @FunctionalInterface
    interface Guard {

        Ending guarded(Ending ending);

        /** Returns a guard that passes errors on; a prediction may end after its model. */
        static Guard handing(Consumer<Throwable> trouble) {
            return ending -> {
                NativeLoader.Use use = NativeLoader.hold();
                return (run, failed) -> {
                    try (use) {
                        ending.end(run, failed);
                    } catch (RuntimeException | Error e) {
                        trouble.accept(e);
                    }
                };
            };
        }
    }

    private TorchPrediction(AllocationWatch.Run run, Ending atEnd) {
        this.run = Optional.of(run);
        this.atEnd = atEnd;
    }

    private TorchPrediction() {
        run = Optional.empty();
        atEnd = (unused, failed) -> {};
    }

    /** Returns the prediction of a run; if that fails for lack of memory, the run is finished. */
    static TorchPrediction of(AllocationWatch.Run run, Supplier<Ending> atEnd) {
        try {
            return new TorchPrediction(run, atEnd.get());
        } catch (RuntimeException | Error e) {
            boolean unusedEnded = run.pause();
            AllocationWatch.Outcome unused = run.finish();
            throw e;
        }
    }

    /** Returns a prediction that the engine's allocator serves. */
    static TorchPrediction unplanned() {
        return new TorchPrediction();
    }

    /** Counts the pass until the pause. The native library itself counts passes that have a run. */
    TorchPrediction counted() {
        if (run.isEmpty()) {
            pass = Optional.of(Passes.begin());
        }
        return this;
    }

    /**
     * Ends the allocations, and also the prediction if none of its blocks is in use. To be called
     * on the thread on which the prediction began. Idempotent.
     */
    public synchronized void pause() {
        if (!paused) {
            paused = true;
            try {
                if (run.isPresent() && run.get().pause()) {
                    finish();
                }
            } finally {
                pass.ifPresent(Passes.Pass::end);
                turn.ifPresent(StreamedWeights.Turn::end);
            }
        }
    }

    /** Makes the model's turn end with the allocations. */
    void atPause(Optional<StreamedWeights.Turn> held) {
        turn = held;
    }

    /** Notes that the forward pass ended early, so that its allocations are incomplete. */
    public synchronized void fail() {
        failed = true;
    }

    /** Ends the prediction, after the pause, on any thread. Idempotent. */
    public synchronized void finish() {
        if (paused && !finished) {
            finished = true;
            if (run.isPresent()) {
                atEnd.end(run.get(), failed);
            }
        }
    }
}
