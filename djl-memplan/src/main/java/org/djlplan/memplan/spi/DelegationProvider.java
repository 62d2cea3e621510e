package org.djlplan.memplan.spi;

import ai.djl.util.Progress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * Chooses which operators of a model run in the engine's delegate; implemented by another module.
 * Found by {@link java.util.ServiceLoader}.
 */
public interface DelegationProvider {

    /** Returns the supported options, whose keys start with {@code "delegation."}. */
    List<Option> options();

    /**
     * Checks that the options are usable.
     *
     * @param options the given ones among {@link #options()}
     * @throws IllegalArgumentException if a value is not usable; the message names key and value
     */
    void check(Map<String, String> options);

    /**
     * Chooses for a model. Any error is logged, and the CPU kernels or the best verified set so far
     * is chosen.
     *
     * @param options usable ones
     * @param progress receives the progress of measuring, if it is measured now
     * @param better receives later and better choices, on another thread; none after the result is
     *     closed
     * @throws UnusableOptionException if an option names something that the model does not have
     */
    Choosing choose(
            DelegableModel model,
            Map<String, String> options,
            Optional<Progress> progress,
            Consumer<DelegationChoice> better);

    /**
     * Chooses for shapes of inputs other than those in a model's file, in the background.
     *
     * @param model as it is measured at these shapes
     * @param options usable ones
     * @param better gets choices, on another thread; nothing after the result is closed
     * @return empty if nothing is stored at these shapes, and nothing is measured at other shapes
     */
    default Optional<Choosing> chooseAtShapes(
            DelegableModel model, Map<String, String> options, Consumer<DelegationChoice> better) {
        return Optional.empty();
    }

    /**
     * Returns the mixes of shapes, other than those in a model's file, for which {@link
     * #chooseAtShapes} has stored results.
     *
     * @param options usable ones
     */
    default List<ShapeMix> storedMixes(DelegableModel model, Map<String, String> options) {
        return List.of();
    }

    /**
     * Returns the tolerance for the outputs.
     *
     * @param options usable ones
     */
    default Tolerance tolerance(Map<String, String> options) {
        return Tolerance.AUTO;
    }

    /**
     * Returns the terms for delegating operators of a model with a byte budget smaller than the
     * model: the operators are then chosen together with the plan of the weights.
     *
     * @param options usable ones
     * @return empty if nothing may be delegated there
     */
    default Optional<Terms> insideBudget(Map<String, String> options) {
        return Optional.empty();
    }

    /**
     * The terms for delegating operators in a budget.
     *
     * @param tolerance for the outputs
     * @param maxMemoryBytes limit of delegate and arena together; empty for no limit
     * @param whileLoading whether a load waits for the choice; otherwise it is made in the
     *     background
     */
    record Terms(Tolerance tolerance, OptionalLong maxMemoryBytes, boolean whileLoading) {}

    /** A choice that may improve in the background. */
    interface Choosing extends AutoCloseable {

        /** Returns the initial choice. */
        DelegationChoice first();

        /** Returns whether the serving choice is verified, or will not be verified any more. */
        boolean isSettled();

        /**
         * Stores that nothing is to be delegated, because outputs of a request of the application
         * differed.
         *
         * @param why in one line, for people
         */
        default void withdraw(String why) {}

        /** Cancels background work, without waiting for it. */
        @Override
        void close();
    }
}
