package org.djlplan.memplan.internal.djl.liveness;

import java.util.Optional;
import org.djlplan.memplan.internal.source.block.LivenessTrace;

/**
 * The recording and the plan of a block's forward passes with inputs of certain types. Thread-safe.
 */
final class TypeState {

    /** Number of consecutive divergent passes before a new recording. */
    private static final int MOST_DIVERGENCES = 2;

    /** Number of recordings after which passes count as never repeating. */
    private static final int MOST_RECORDINGS = 3;

    private Optional<ReplayPlan> plan = Optional.empty();
    private Optional<BlockState> recordedIn = Optional.empty();
    private boolean refused;
    private int recordings;

    /** How many passes to be recorded found others running. */
    private int encounters;

    private int divergences;

    /** Returns a state in which no pass is recorded. */
    static TypeState refused() {
        TypeState state = new TypeState();
        state.refuse();
        return state;
    }

    /** Returns the plan to follow, if there is one. */
    synchronized Optional<ReplayPlan> plan() {
        return plan;
    }

    /** Returns whether passes are neither recorded nor close anything. */
    synchronized boolean unrepeatable() {
        return refused;
    }

    /** Ends recording, for example because a pass modifies its arguments. */
    synchronized void refuse() {
        refused = true;
        plan = Optional.empty();
    }

    /** Returns whether a pass should be recorded. */
    synchronized boolean wantsRecording() {
        return plan.isEmpty() && !refused && recordings < MOST_RECORDINGS;
    }

    /**
     * Returns whether a pass to be recorded should wait, as other passes run: the first does, the
     * third, the seventh, and so on, because all new passes of the block wait with it.
     */
    synchronized boolean waitsToRecord() {
        encounters++;
        return Integer.bitCount(encounters + 1) == 1;
    }

    /** Sets the trace of a new recording. */
    synchronized void recorded(LivenessTrace trace) {
        plan = Optional.of(new ReplayPlan(trace, false));
        recordings++;
        divergences = 0;
    }

    /** Sets the trace of a new recording, which is valid while the block's state is unchanged. */
    synchronized void recorded(LivenessTrace trace, BlockState before) {
        recorded(trace);
        recordedIn = Optional.of(before);
    }

    /** Returns the state of the block when the recording began, if it matters. */
    synchronized Optional<BlockState> recordedIn() {
        return recordedIn;
    }

    /** Records that the block's state differs from the recorded one. */
    synchronized void outdated() {
        divergences++;
        if (divergences >= MOST_DIVERGENCES) {
            plan = Optional.empty();
        }
    }

    /** Sets the trace of inputs of other shapes, which the next pass will try. */
    synchronized void borrow(LivenessTrace trace) {
        if (wantsRecording()) {
            plan = Optional.of(new ReplayPlan(trace, true));
            divergences = 0;
        }
    }

    /** Sets the trace that a pass made of a borrowed plan. */
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

    /** Records the result of a pass that followed a plan. */
    synchronized void replayed(ReplayPlan followed, boolean diverged) {
        if (plan.isEmpty() || plan.get() != followed) {
            return;
        }
        divergences = diverged ? divergences + 1 : 0;
        if (divergences >= MOST_DIVERGENCES && recordings < MOST_RECORDINGS) {
            plan = Optional.empty();
        }
    }
}
