package org.djlplan.memplan.internal.runtime.torch;

import java.util.Optional;

/**
 * One prediction on one thread. Between its beginning and {@link #pause()} the thread's allocations
 * get places in an arena; frees are recorded until {@link #finish()}, so that arrays closed after
 * the call still belong to it.
 */
public final class TorchPrediction {

    private final Optional<TorchArenas.Run> run;
    private Optional<StreamedWeights.Turn> turn = Optional.empty();
    private Optional<Passes.Pass> pass = Optional.empty();
    private boolean paused;
    private boolean failed;
    private boolean finished;

    TorchPrediction(TorchArenas.Run run) {
        this.run = Optional.of(run);
    }

    private TorchPrediction() {
        run = Optional.empty();
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
     * Ends the allocations; also the prediction, if none of its blocks is in use, or if it has a
     * turn, because the next one begins with an arena that has no blocks. To be called on the
     * thread on which the prediction began. Idempotent.
     */
    public synchronized void pause() {
        if (!paused) {
            paused = true;
            long neededBytes = 0;
            try {
                if (run.isPresent()) {
                    boolean isIdle = run.get().pause();
                    neededBytes = run.get().neededBytes();
                    if (isIdle || turn.isPresent()) {
                        finish();
                    }
                }
            } finally {
                pass.ifPresent(Passes.Pass::end);
                if (turn.isPresent()) {
                    turn.get().end(neededBytes, failed);
                }
            }
        }
    }

    /** Makes the model's turn end with the allocations, and limits these. */
    void during(StreamedWeights.Turn held) {
        turn = Optional.of(held);
        run.ifPresent(limited -> limited.limit(held.limitBytes()));
    }

    /** Notes that the forward pass ended early, so that its allocations are incomplete. */
    public synchronized void fail() {
        failed = true;
    }

    /**
     * Notes the same, before {@link #pause}.
     *
     * @return the reason: a budget that is too small for the pass, or the exception that ended it
     */
    public synchronized RuntimeException fail(RuntimeException thrown) {
        fail();
        long neededBytes = run.map(TorchArenas.Run::neededBytes).orElse(0L);
        if (turn.isEmpty() || neededBytes <= turn.get().limitBytes()) {
            return thrown;
        }
        RuntimeException refusal = turn.get().refusal(neededBytes);
        refusal.addSuppressed(thrown);
        return refusal;
    }

    /** Ends the prediction, after the pause, on any thread. Idempotent. */
    public synchronized void finish() {
        if (paused && !finished) {
            finished = true;
            run.ifPresent(ended -> ended.end(failed));
        }
    }
}
