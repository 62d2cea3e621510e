package org.djlplan.memplan.formula;

/**
 * Places of the allocations of a prediction that was never recorded. Immutable.
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

    /** Returns what is placed. */
    public Guess guess() {
        return guess;
    }

    /** Returns where allocation {@code number} lies; −1 if it is left to the engine. */
    public long offset(int number) {
        return guess.isPlaced(number) ? offsets[number] : LEFT_TO_THE_ENGINE;
    }

    /** Returns the size in bytes of the arena. */
    public long arenaBytes() {
        return arenaBytes;
    }

    /** Returns the most bytes that are in use at once, which no arena can be smaller than. */
    public long boundBytes() {
        return boundBytes;
    }

    /**
     * Returns whether no two allocations that are in use at once overlap, and all lie in the arena
     * where they may. Shares nothing with who made the plan.
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
