package org.djlplan.memplan.internal.runtime.torch;

/**
 * Decides when to record predictions again after incomplete recordings, such as those of
 * predictions with more allocations than can be recorded. The pause doubles each time, so recording
 * costs almost nothing if no recording is ever complete. Not thread-safe.
 */
final class IncompleteRecordings {

    private static final int MOST_DOUBLINGS = 30;

    private int inARow;

    /** How many predictions are not recorded. */
    private int pause;

    /** Returns whether the next prediction may be recorded. */
    boolean mayRecord() {
        if (pause > 0) {
            pause--;
            return false;
        }
        return true;
    }

    /** Notes the result of a recording. */
    void note(boolean complete) {
        inARow = complete ? 0 : Math.min(inARow + 1, MOST_DOUBLINGS);
        pause = complete ? 0 : (1 << (inARow - 1)) - 1;
    }
}
