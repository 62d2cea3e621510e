package org.djlplan.memplan.spi;

import ai.djl.util.Progress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.djlplan.memplan.config.Option;

/**
 * The module that chooses which operators of a model go to the engine's delegate. Found by
 * ServiceLoader.
 */
public interface DelegationProvider {

    /** Returns the options it knows, the keys of which start with {@code "delegation."}. */
    List<Option> options();

    /**
     * Does nothing if the options are usable.
     *
     * @param options those of {@link #options()} that were given
     * @throws IllegalArgumentException if a value is not; the message names key and value
     */
    void check(Map<String, String> options);

    /**
     * Chooses for a model. Whatever goes wrong on the way is logged, and the CPU kernels or the
     * best set proved so far is chosen.
     *
     * @param options usable ones
     * @param progress told how far the measuring is, if it is measured now
     * @param better gets later and better choices, on another thread; nothing after the result is
     *     closed
     * @throws UnusableOptionException if an option names what the model does not have
     */
    Choosing choose(
            DelegableModel model,
            Map<String, String> options,
            Optional<Progress> progress,
            Consumer<DelegationChoice> better);

    /**
     * Returns on which terms operators may be delegated where the model runs in a byte budget
     * smaller than itself: which ones is chosen together with the plan of its weights.
     *
     * @param options usable ones
     * @return empty if nothing may be delegated so
     */
    default Optional<Terms> insideBudget(Map<String, String> options) {
        return Optional.empty();
    }

    /**
     * The terms on which operators may be delegated.
     *
     * @param tolerance by which outputs are judged
     * @param maxMemoryBytes what delegate and arena may take at most; empty for no such limit
     * @param whileLoading whether a load waits until it is known which ones; else they are chosen
     *     in the background
     */
    record Terms(Tolerance tolerance, OptionalLong maxMemoryBytes, boolean whileLoading) {}

    /** A choice that may get better in the background. */
    interface Choosing extends AutoCloseable {

        /** Returns the choice to begin with. */
        DelegationChoice first();

        /** Returns whether what serves is verified, or nothing is done any more to get there. */
        boolean isSettled();

        /** Ends what still goes on in the background, without waiting for it. */
        @Override
        void close();
    }
}
