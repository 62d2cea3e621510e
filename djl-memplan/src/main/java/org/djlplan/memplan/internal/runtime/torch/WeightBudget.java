package org.djlplan.memplan.internal.runtime.torch;

import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.config.BudgetResolver;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The budget of a model whose weights are streamed. Activations (the arena) and the engine ({@link
 * OtherMemory}) take the memory that they need; the rest is for the window over the weights. A
 * prediction whose window does not fit is rejected, or exceeds the budget with one warning.
 *
 * <p>Predictions change this object in the model's turn. Other threads may read it, and replace the
 * budget.
 */
final class WeightBudget {

    private static final Logger logger = LoggerFactory.getLogger(WeightBudget.class);
    private static final double MEGA = 1e6;

    private final String model;
    private final boolean bestEffort;
    private final OtherMemory other;
    private final WeightNames names;
    private volatile BudgetResolver resolver;
    private boolean warned; // guarded by the model's turn

    /**
     * @param model its name, for people
     * @param bestEffort whether predictions may exceed the budget, instead of being rejected
     * @param other the memory of the engine
     */
    WeightBudget(
            String model,
            BudgetResolver resolver,
            boolean bestEffort,
            OtherMemory other,
            WeightNames names) {
        this.model = model;
        this.resolver = resolver;
        this.bestEffort = bestEffort;
        this.other = other;
        this.names = names;
    }

    /**
     * Checks the budget before the first prediction.
     *
     * @param weightBytes bytes of weights that any prediction uses at once
     * @throws IllegalStateException caused by a {@link BudgetTooSmallException}, if every
     *     prediction would exceed the budget, and none may
     */
    void checkAtLoad(long weightBytes) {
        long budgetBytes = resolver.bytes(0);
        long leastBytes = other.bytes() + weightBytes;
        if (budgetBytes < leastBytes && !bestEffort) {
            throw refusal(
                    new BudgetTooSmallException(
                            "%s: a budget of %.1f MB is too small: the engine takes %.1f MB, and one piece of the weights up to %.1f MB; at least %.1f MB"
                                    .formatted(
                                            model,
                                            budgetBytes / MEGA,
                                            other.bytes() / MEGA,
                                            weightBytes / MEGA,
                                            roundedUp(leastBytes)),
                            leastBytes));
        }
    }

    /** Returns megabytes, rounded up to tenths, so that the budget in a message is enough. */
    private static double roundedUp(long bytes) {
        return Math.ceil(bytes / MEGA * 10) / 10;
    }

    /** Wraps the exception, because a forward pass declares no checked exceptions. */
    private static IllegalStateException refusal(BudgetTooSmallException problem) {
        return new IllegalStateException(problem.getMessage(), problem);
    }

    /** Measures the engine's memory after a prediction, if it is time to. */
    void predicted() {
        other.predicted();
    }

    /**
     * Returns the current budget.
     *
     * @param ownBytes size of the arena and the window, which do not count as used by others
     */
    long bytes(long ownBytes) {
        return resolver.bytes(other.bytes() + ownBytes);
    }

    /**
     * Returns the size of the window, which is minimal until the engine's memory is known.
     *
     * @param heldBytes size of the window in use
     */
    long windowBytes(long arenaBytes, long heldBytes) {
        return other.settled() ? bytes(arenaBytes + heldBytes) - other.bytes() - arenaBytes : 0;
    }

    /** Returns the smallest budget for a window. */
    long leastBytes(long windowBytes, long arenaBytes) {
        return windowBytes + other.bytes() + arenaBytes;
    }

    /**
     * Returns the smallest budget for a window, without memory that other code may have allocated.
     */
    private static long certainLeastBytes(long windowBytes, long arenaBytes) {
        return windowBytes + OtherMemory.LEAST_BYTES + arenaBytes;
    }

    /**
     * Fails if a kind of predictions would exceed the budget whatever else this process does, and
     * must not. A kind that the budget held once continues with the smallest possible window. So
     * does a kind that only the measured memory leaves too little room for, because other models
     * and threads may have allocated that memory.
     *
     * @param heldBytes size of the window in use
     * @throws IllegalStateException caused by a {@link BudgetTooSmallException}
     */
    void judge(StreamedKind kind, long arenaBytes, long heldBytes) {
        if (!kind.isKnown()) {
            return;
        }
        long windowBytes = kind.leastWindowBytes();
        long budgetBytes = bytes(arenaBytes + heldBytes);
        long leastBytes = leastBytes(windowBytes, arenaBytes);
        if (budgetBytes >= leastBytes) {
            kind.noteHeld();
            return;
        }
        boolean certain = budgetBytes < certainLeastBytes(windowBytes, arenaBytes);
        if (certain && !bestEffort && !kind.isAccepted()) {
            throw refusal(tooSmall(kind, budgetBytes, leastBytes));
        }
        if (!warned && other.settled()) {
            warned = true;
            logger.warn(tooSmall(kind, budgetBytes, leastBytes).getMessage());
        }
    }

    private BudgetTooSmallException tooSmall(StreamedKind kind, long budgetBytes, long leastBytes) {
        long windowBytes = kind.leastWindowBytes();
        return new BudgetTooSmallException(
                "%s: a budget of %.1f MB is too small: one operator uses %.1f MB of weights at once%s; at least %.1f MB, of which %.1f MB are for activations and the engine"
                        .formatted(
                                model,
                                budgetBytes / MEGA,
                                windowBytes / MEGA,
                                names.largest(kind.trace().orElseThrow(), kind.hungriestStep()),
                                roundedUp(leastBytes),
                                (leastBytes - windowBytes) / MEGA),
                leastBytes);
    }

    /**
     * Replaces the budget.
     *
     * @param windowBytes the smallest window for the last prediction; 0 if it is not known
     * @param heldBytes size of the window in use
     * @return whether the budget is smaller than before
     * @throws BudgetTooSmallException if predictions would exceed it whatever else this process
     *     does, and must not
     */
    boolean replace(BudgetResolver replacing, long windowBytes, long arenaBytes, long heldBytes)
            throws BudgetTooSmallException {
        long bytes = replacing.bytes(other.bytes() + arenaBytes + heldBytes);
        if (bytes < certainLeastBytes(windowBytes, arenaBytes) && !bestEffort) {
            long least = leastBytes(windowBytes, arenaBytes);
            throw new BudgetTooSmallException(
                    model + " needs at least " + least + " bytes, more than " + bytes, least);
        }
        boolean less = bytes < bytes(arenaBytes + heldBytes);
        resolver = replacing;
        return less;
    }
}
