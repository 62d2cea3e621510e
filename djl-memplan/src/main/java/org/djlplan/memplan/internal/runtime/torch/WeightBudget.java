package org.djlplan.memplan.internal.runtime.torch;

import java.util.Optional;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.config.BudgetResolver;
import org.djlplan.memplan.internal.report.Megabytes;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The budget of a model whose weights are streamed. It is divided into a fixed part for the engine,
 * the weights that an operator uses at once, and what a prediction needs: the rest. A prediction
 * that needs more is refused, or exceeds the budget with one warning. So the smallest budget for a
 * prediction depends only on the model and the inputs.
 *
 * <p>A window over more weights is a matter of speed. It gets what the measured memory of the
 * engine ({@link OtherMemory}) and the predictions leave; that memory includes allocations of other
 * code.
 *
 * <p>Predictions change this object in the model's turn. Other threads may read it, and replace the
 * budget.
 */
final class WeightBudget {

    private static final Logger logger = LoggerFactory.getLogger(WeightBudget.class);

    private final String model;
    private final boolean bestEffort;
    private final OtherMemory other;
    private final long pieceBytes;
    private final WeightNames names;
    private volatile BudgetResolver resolver;
    private boolean warned; // guarded by the model's turn

    /**
     * @param model its name, for people
     * @param bestEffort whether predictions may exceed the budget, instead of being refused
     * @param other the memory of the engine
     * @param pieceBytes bytes of weights that any prediction uses at once
     */
    WeightBudget(
            String model,
            BudgetResolver resolver,
            boolean bestEffort,
            OtherMemory other,
            long pieceBytes,
            WeightNames names) {
        this.model = model;
        this.resolver = resolver;
        this.bestEffort = bestEffort;
        this.other = other;
        this.pieceBytes = pieceBytes;
        this.names = names;
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
     * @param arenaBytes size of the arena
     * @param heldBytes size of the window in use
     */
    long windowBytes(long arenaBytes, long heldBytes) {
        return other.settled() ? bytes(arenaBytes + heldBytes) - other.bytes() - arenaBytes : 0;
    }

    /**
     * Returns the smallest budget for a prediction.
     *
     * @param kind its kind; empty if that is not known
     * @param neededBytes what it needs beside weights; 0 for any prediction
     */
    long leastBytes(Optional<StreamedKind> kind, long neededBytes) {
        return OtherMemory.LEAST_BYTES + weightBytes(kind) + neededBytes;
    }

    private long weightBytes(Optional<StreamedKind> kind) {
        return kind.filter(StreamedKind::isKnown)
                .map(StreamedKind::leastWindowBytes)
                .orElse(pieceBytes);
    }

    /**
     * Returns how many bytes a prediction may need beside weights.
     *
     * @param heldBytes size of the window in use
     */
    long limitBytes(Optional<StreamedKind> kind, long heldBytes) {
        return bestEffort ? Long.MAX_VALUE : bytes(heldBytes) - leastBytes(kind, 0);
    }

    /**
     * Checks whether the budget has room for a prediction, or for any.
     *
     * @param heldBytes size of the window in use
     * @throws IllegalStateException caused by a {@link BudgetTooSmallException}, if it has not, and
     *     must not be exceeded
     */
    void check(Optional<StreamedKind> kind, long neededBytes, long heldBytes) {
        if (bytes(neededBytes + heldBytes) >= leastBytes(kind, neededBytes)) {
            return;
        }
        IllegalStateException refusal = refusal(kind, neededBytes);
        if (!bestEffort) {
            throw refusal;
        }
        if (!warned) {
            warned = true;
            logger.warn(refusal.getMessage());
        }
    }

    /**
     * Returns the exception for a prediction that needs more than the budget leaves. It wraps a
     * {@link BudgetTooSmallException}, because a forward pass declares no checked exceptions.
     */
    IllegalStateException refusal(Optional<StreamedKind> kind, long neededBytes) {
        String largest =
                kind.filter(StreamedKind::isKnown)
                        .map(k -> names.largest(k.trace().orElseThrow(), k.hungriestStep()))
                        .orElse("");
        BudgetTooSmallException problem = tooSmall(bytes(neededBytes), kind, largest, neededBytes);
        return new IllegalStateException(problem.getMessage(), problem);
    }

    /**
     * @param largest the names of the largest weights that the prediction uses, or an empty text
     */
    private BudgetTooSmallException tooSmall(
            long budgetBytes, Optional<StreamedKind> kind, String largest, long neededBytes) {
        long leastBytes = leastBytes(kind, neededBytes);
        return new BudgetTooSmallException(
                "%s: a budget of %s is too small: at least %s, of which %s are for the engine, %s for weights that one operator uses at once%s, and %s for activations and outputs"
                        .formatted(
                                model,
                                Megabytes.of(budgetBytes),
                                Megabytes.atLeast(leastBytes),
                                Megabytes.of(OtherMemory.LEAST_BYTES),
                                Megabytes.of(weightBytes(kind)),
                                largest,
                                Megabytes.of(neededBytes)),
                leastBytes);
    }

    /**
     * Replaces the budget. Predictions that need more are refused from now on.
     *
     * @param kind of the last prediction
     * @param ownBytes size of the arena and the window
     * @return whether the budget is smaller than before
     * @throws BudgetTooSmallException if it has no room for any prediction, and must have
     */
    boolean replace(BudgetResolver replacing, Optional<StreamedKind> kind, long ownBytes)
            throws BudgetTooSmallException {
        long bytes = replacing.bytes(other.bytes() + ownBytes);
        if (bytes < leastBytes(kind, 0) && !bestEffort) {
            throw tooSmall(bytes, kind, "", 0);
        }
        boolean less = bytes < bytes(ownBytes);
        resolver = replacing;
        return less;
    }
}
