package org.djlplan.memplan.internal.runtime.torch;

/**
 * Decides when predictions have diverged from their plan too often: after several diverging
 * predictions in a row. The required number doubles each time, so a model with data-dependent
 * allocations is seldom recorded again. Not thread-safe.
 */
final class Divergences {

    private static final int FIRST_MOST = 3;

    private int inARow;
    private int most = FIRST_MOST;

    /**
     * Notes a prediction, and returns whether its plan must be dropped.
     *
     * @param asPlanned whether it allocated as planned
     */
    boolean areTooMany(boolean asPlanned) {
        inARow = asPlanned ? 0 : inARow + 1;
        if (inARow < most) {
            return false;
        }
        inARow = 0;
        most = Math.min(2 * most, Integer.MAX_VALUE / 2);
        return true;
    }
}
