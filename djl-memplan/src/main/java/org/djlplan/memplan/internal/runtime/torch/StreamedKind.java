package org.djlplan.memplan.internal.runtime.torch;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.djlplan.memplan.internal.budget.ResidencyPlan;
import org.djlplan.memplan.internal.budget.ResidencyPlanner;
import org.djlplan.memplan.internal.budget.ResidentWeights;
import org.djlplan.memplan.internal.budget.WeightTrace;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The predictions of one kind of a model whose weights are streamed: which pieces of the weights
 * each step uses, and the plan of a window over these pieces. Guarded by the model's turn, except
 * for {@link #plan()}, {@link #windowBytes()} and {@link #leastWindowBytes()}, because reports read
 * these.
 */
final class StreamedKind {

    private static final Logger logger = LoggerFactory.getLogger(StreamedKind.class);

    /** The first refused recording may come from a file; a second one comes from a prediction. */
    private static final int MOST_REFUSALS = 2;

    /** After so many diverging predictions in a row, a recording is dropped for the first time. */
    private static final int FIRST_MOST_DIVERGED = 3;

    /**
     * Predictions of a refused kind are refused at once for so long. DJL does not free the inputs
     * of passes that fail.
     */
    private static final long REFUSED_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final PredictionKind kind;
    private Optional<WeightTrace> trace = Optional.empty();
    private volatile Optional<ResidencyPlanner> planner = Optional.empty();
    private volatile Optional<ResidencyPlan> plan = Optional.empty();
    private Optional<WeightFile.Schedule> schedule = Optional.empty();
    private boolean unwatchable;
    private int refusals;
    private int diverged;
    private int mostDiverged = FIRST_MOST_DIVERGED;

    /** What predictions needed most beside weights. */
    private long neededBytes;

    /** What the last refused prediction would have needed at least. */
    private long refusedBytes;

    private long refusedNanos;

    StreamedKind(PredictionKind kind) {
        this.kind = kind;
    }

    /** Returns the kind of these predictions. */
    PredictionKind kind() {
        return kind;
    }

    /** Returns whether it is known when each weight is used. */
    boolean isKnown() {
        return planner.isPresent();
    }

    /** Uses a recording from now on. */
    void learn(WeightTrace learnt) {
        forget();
        trace = Optional.of(learnt);
        planner =
                Optional.of(
                        new ResidencyPlanner(learnt.uses(), learnt.lookups(), learnt.stepNanos()));
    }

    /** Drops the recording and its plan. */
    void forget() {
        trace = Optional.empty();
        planner = Optional.empty();
        drop();
    }

    private void drop() {
        plan = Optional.empty();
        schedule.ifPresent(WeightFile.Schedule::close);
        schedule = Optional.empty();
    }

    /**
     * Plans for a window, or for the smallest possible one if that is larger. Forgets the recording
     * if its plan would wait for ever, because of lookups that overlap.
     */
    void plan(long windowBytes) {
        if (planner.isEmpty()) {
            return;
        }
        long window = Math.max(windowBytes, planner.get().leastBytes());
        if (plan.filter(now -> now.windowBytes() == window).isEmpty()) {
            drop();
            ResidencyPlan made = planner.get().plan(window);
            try {
                schedule = Optional.of(WeightFile.schedule(trace.orElseThrow(), made));
                plan = Optional.of(made);
            } catch (IllegalArgumentException e) {
                logger.debug("a recording of weights cannot be used", e);
                refusals++;
                forget();
            }
        }
    }

    /** Returns the schedule for the native library; empty if there is no plan. */
    Optional<WeightFile.Schedule> schedule() {
        return schedule;
    }

    /** Returns whether to record the next prediction. */
    boolean isRecordedNext() {
        return schedule.isEmpty() && !unwatchable && refusals < MOST_REFUSALS;
    }

    /** Sets whether the system reports which weights a prediction used. */
    void setWatchable(boolean watchable) {
        unwatchable = !watchable;
    }

    /**
     * Notes a prediction.
     *
     * @param bytes what it needed beside weights
     */
    void predicted(long bytes) {
        neededBytes = Math.max(neededBytes, bytes);
    }

    /**
     * Notes a refused prediction.
     *
     * @param bytes what it would have needed at least
     */
    void refused(long bytes) {
        refusedBytes = bytes;
        refusedNanos = System.nanoTime();
    }

    /**
     * Returns what a prediction needs at least: what one would have needed that was refused in the
     * last minute. 0 if one was answered, because then the need depends on the inputs' values.
     */
    long leastNeededBytes() {
        boolean isOld = System.nanoTime() - refusedNanos > REFUSED_NANOS;
        return neededBytes > 0 || isOld ? 0 : refusedBytes;
    }

    /** Returns what predictions needed most beside weights; 0 if there were none. */
    long neededBytes() {
        return neededBytes;
    }

    /**
     * Notes a prediction that was not recorded. After several in a row that diverged, the recording
     * is dropped; their number doubles each time, so that a model with data-dependent allocations
     * is seldom recorded again.
     *
     * @param asPlanned whether it allocated as scheduled
     */
    void compare(boolean asPlanned) {
        diverged = schedule.isEmpty() || asPlanned ? 0 : diverged + 1;
        if (diverged >= mostDiverged) {
            diverged = 0;
            mostDiverged = Math.min(2 * mostDiverged, Integer.MAX_VALUE / 2);
            forget();
        }
    }

    /** Returns the smallest window; 0 if it is not known. */
    long leastWindowBytes() {
        return planner.map(ResidencyPlanner::leastBytes).orElse(0L);
    }

    /** Returns the size of the window in use; 0 without a plan. */
    long windowBytes() {
        return plan.map(ResidencyPlan::windowBytes).orElse(0L);
    }

    /** Returns the plan in use. */
    Optional<ResidencyPlan> plan() {
        return plan;
    }

    /** Returns the recording in use. */
    Optional<WeightTrace> trace() {
        return trace;
    }

    /** Returns the step that uses the most bytes of weights. */
    int hungriestStep() {
        return planner.orElseThrow().hungriestStep();
    }

    /** Returns which weights are in memory when; empty before there is a plan. */
    Optional<ResidentWeights> resident() {
        return plan.map(now -> ResidentWeights.of(now, trace.orElseThrow(), hungriestStep()));
    }
}
