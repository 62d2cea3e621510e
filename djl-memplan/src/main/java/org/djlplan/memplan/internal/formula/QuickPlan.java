package org.djlplan.memplan.internal.formula;

/**
 * A plan for a prediction that was never recorded: the places of its allocations. Immutable.
 *
 * @see QuickPlanner
 */
public final class QuickPlan {

    private static final long LEFT_TO_THE_ENGINE = -1;

    private final Guess guess;
    private final long[] offsets;
    private final long arenaBytes;
    private final long boundBytes;

    QuickPlan(Guess guess, long[] offsets, long arenaBytes, long boundBytes) {
        this.guess = guess;
        this.offsets = offsets;
        this.arenaBytes = arenaBytes;
        this.boundBytes = boundBytes;
    }

    /** Returns the predicted allocations. */
    public Guess guess() {
        return guess;
    }

    /** Returns the offset of allocation {@code number}; −1 if the engine allocates it. */
    public long offset(int number) {
        return guess.isPlaced(number) ? offsets[number] : LEFT_TO_THE_ENGINE;
    }

    /** Returns the size of the arena in bytes. */
    public long arenaBytes() {
        return arenaBytes;
    }

    /** Returns the most bytes in use at once, which is a lower bound for the arena. */
    public long boundBytes() {
        return boundBytes;
    }

    /**
     * Returns whether no two allocations in use at once overlap, and all lie inside the arena.
     * Shares no code with the planner.
     */
    public boolean isValid() {
        int count = guess.size();
        for (int i = 0; i < count; i++) {
            if (guess.isPlaced(i)) {
                long begin = offsets[i];
                long end = begin + guess.bytes(i);
                if (begin < 0 || begin % Guess.ALIGNMENT_BYTES != 0 || end > arenaBytes) {
                    return false;
                }
                for (int j = i + 1; j < guess.end(i); j++) {
                    if (guess.isPlaced(j)
                            && offsets[j] < end
                            && begin < offsets[j] + guess.bytes(j)) {
                        return false;
                    }
                }
            }
        }
        return true;
    }
}
