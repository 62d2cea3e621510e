package org.djlplan.memplan.djl.liveness;

import java.util.Optional;
import org.djlplan.memplan.source.block.LivenessTrace;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The recording and the plan of a block's forward passes with inputs of certain types. Thread-safe.
 */
final class TypeState {

    private static final Logger logger = LoggerFactory.getLogger(TypeState.class);

    /** Passes in a row that diverge from the recording before there is a new one. */
    private static final int MOST_DIVERGENCES = 2;

    /** Recordings before passes are taken for ones that never repeat. */
    private static final int MOST_RECORDINGS = 3;

    private Optional<ReplayPlan> plan = Optional.empty();
    private Optional<BlockState> recordedIn = Optional.empty();
    private boolean unrepeatable;
    private int recordings;
    private int divergences;

    /** Returns the plan to follow, if there is one. */
    synchronized Optional<ReplayPlan> plan() {
        return plan;
    }

    /** Returns whether the passes change what they are given, so that nothing may be closed. */
    synchronized boolean unrepeatable() {
        return unrepeatable;
    }

    /** Notes that a pass changes what it is given. */
    synchronized void refuse() {
        unrepeatable = true;
        plan = Optional.empty();
    }

    /** Returns whether a pass should be recorded. */
    synchronized boolean wantsRecording() {
        return plan.isEmpty() && !unrepeatable && recordings < MOST_RECORDINGS;
    }

    /** Takes a new recording's trace. */
    synchronized void recorded(LivenessTrace trace) {
        plan = Optional.of(new ReplayPlan(trace, false));
        recordings++;
        divergences = 0;
    }

    /** Takes a new recording's trace, which holds while the block's state is what it was. */
    synchronized void recorded(LivenessTrace trace, BlockState before) {
        recorded(trace);
        recordedIn = Optional.of(before);
    }

    /** Returns the state that the block was in when the recording began, if it matters. */
    synchronized Optional<BlockState> recordedIn() {
        return recordedIn;
    }

    /** Notes that the block is in another state than when it was recorded. */
    synchronized void outdated() {
        divergences++;
        if (divergences >= MOST_DIVERGENCES) {
            plan = Optional.empty();
        }
    }

    /** Sets a stored trace. It counts as no recording, so one of our own may follow. */
    synchronized void restored(LivenessTrace trace) {
        try {
            plan = Optional.of(new ReplayPlan(trace, false));
        } catch (IllegalArgumentException e) {
            logger.warn("A stored trace is of no use: {}", e.getMessage());
        }
    }

    /** Takes the trace of inputs of other shapes, to be tried by the next pass. */
    synchronized void borrow(LivenessTrace trace) {
        if (wantsRecording()) {
            plan = Optional.of(new ReplayPlan(trace, true));
            divergences = 0;
        }
    }

    /** Returns whether the plan was recorded with inputs of other shapes. */
    synchronized boolean borrows() {
        return plan.filter(ReplayPlan::borrowed).isPresent();
    }

    /** Takes what a pass made of a plan that was borrowed. */
    synchronized void learnt(ReplayPlan followed, LivenessTrace trace) {
        if (plan.isPresent() && plan.get() == followed) {
            plan = Optional.of(new ReplayPlan(trace, false));
        }
    }

    /** Drops the plan after a pass that failed because of it. */
    synchronized void failed(ReplayPlan failed) {
        if (plan.isPresent() && plan.get() == failed) {
            plan = Optional.empty();
        }
    }

    /** Notes how a pass went that followed a plan. */
    synchronized void replayed(ReplayPlan followed, boolean diverged) {
        if (plan.isEmpty() || plan.get() != followed) {
            return;
        }
        divergences = diverged ? divergences + 1 : 0;
        if (divergences >= MOST_DIVERGENCES && recordings < MOST_RECORDINGS) {
            plan = Optional.empty();
        }
    }

    /** Returns whether the next pass closes the arrays that later ones will close. */
    synchronized boolean settled() {
        return plan.isPresent() ? divergences == 0 : !wantsRecording();
    }
}
