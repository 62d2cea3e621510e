package org.djlplan.memplan.internal.djl.liveness;

import java.util.Optional;

/** The plan of a block's forward passes with inputs of certain types. Thread-safe. */
final class TypeState {

    /** Number of consecutive divergent passes before a new recording. */
    private static final int MOST_DIVERGENCES = 2;

    /** Number of recordings after which passes count as never repeating. */
    private static final int MOST_RECORDINGS = 3;

    private Optional<ReplayPlan> plan = Optional.empty();
    private Optional<BlockState> recordedIn = Optional.empty();
    private int recordings;
    private int divergences;

    /** Returns the plan to follow, if there is one. */
    synchronized Optional<ReplayPlan> plan() {
        return plan;
    }

    /** Returns whether a pass should be recorded. */
    synchronized boolean wantsRecording() {
        return plan.isEmpty() && recordings < MOST_RECORDINGS;
    }

    /**
     * Sets the plan of a new recording.
     *
     * @param before the state of a user's block when the recording began, in which it is valid
     */
    synchronized void recorded(ReplayPlan made, Optional<BlockState> before) {
        plan = Optional.of(made);
        recordedIn = before;
        recordings++;
        divergences = 0;
    }

    /** Returns the state of the block when the recording began, if it matters. */
    synchronized Optional<BlockState> recordedIn() {
        return recordedIn;
    }

    /** Sets the plan of inputs of other shapes, which the next pass will try. */
    synchronized void borrow(ReplayPlan other) {
        if (wantsRecording()) {
            plan = Optional.of(other.borrowed());
        }
    }

    /** Replaces a borrowed plan by the one that a pass made of it. */
    synchronized void learnt(ReplayPlan followed, ReplayPlan made) {
        if (isCurrent(followed)) {
            plan = Optional.of(made);
        }
    }

    /** Drops a plan that broke a pass. */
    synchronized void failed(ReplayPlan followed) {
        if (isCurrent(followed)) {
            plan = Optional.empty();
        }
    }

    /** Notes a pass that followed a plan, or would have in another state of the block. */
    synchronized void replayed(ReplayPlan followed, boolean diverged) {
        if (!isCurrent(followed)) {
            return;
        }
        divergences = diverged ? divergences + 1 : 0;
        if (divergences >= MOST_DIVERGENCES || (diverged && followed.isBorrowed())) {
            plan = Optional.empty();
        }
    }

    private boolean isCurrent(ReplayPlan followed) {
        return plan.isPresent() && plan.get() == followed;
    }
}
