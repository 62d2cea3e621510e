package org.djlplan.memplan.internal.serving;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.runtime.WeightStream;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.DelegationProvider.Terms;
import org.djlplan.memplan.spi.Tolerance;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The conditions under which a delegate runs operators of a streamed model in a budget.
 *
 * @param delegate the delegate's name
 * @param delegates the factory that makes the delegate, which needs no trial in another process
 *     before it runs in this one
 * @param terms the options for delegating operators
 * @param cacheFolder the folder for files that cannot be stored beside the model
 */
public record BudgetedKernels(
        String delegate, DelegateFactory delegates, Terms terms, Path cacheFolder) {

    private static final Logger logger = LoggerFactory.getLogger(BudgetedKernels.class);

    /** This many times the room justifies a new selection. */
    private static final double MUCH = 1.2;

    /**
     * An interpreter with a delegated part.
     *
     * @param forBytes the bytes for which the part was selected
     */
    record Chosen(BudgetedInterpreter interpreter, long forBytes) {}

    /**
     * The conditions of a choice.
     *
     * @param threads number of threads of a prediction
     * @param io how weights are read
     * @param bytes memory for the arena and the delegate together
     * @param turns the model's turns; each step of the work takes one
     * @param alone whether no prediction runs meanwhile
     */
    record Setting(int threads, WeightStream.Io io, long bytes, Turns turns, boolean alone) {}

    Tolerance tolerance() {
        return terms.tolerance();
    }

    /** Returns whether a load waits for the selection. */
    boolean whileLoading() {
        return terms.whileLoading();
    }

    /**
     * Returns how many of an arena's bytes the arena and the delegate may take.
     *
     * @param arenaBytes of the model's budget
     */
    long atMost(long arenaBytes) {
        return Math.min(arenaBytes, terms.maxMemoryBytes().orElse(Long.MAX_VALUE));
    }

    /**
     * Returns the bytes for the arena and the delegate while two interpreters exist, if only one
     * has an arena.
     */
    private long whileTwo(long arenaBytes) {
        return atMost(arenaBytes) - BudgetedInterpreter.ENGINE_BYTES;
    }

    /**
     * Returns whether the budget has grown enough for a new selection.
     *
     * @param forBytes the bytes for which operators were selected
     * @param arenaBytes of the model's current budget
     */
    boolean grown(long forBytes, long arenaBytes) {
        return whileTwo(arenaBytes) / MUCH > forBytes;
    }

    /**
     * Returns an interpreter with the best stored part, without any trial.
     *
     * @param cpu planned, not measured yet
     * @param arenaBytes for the arena and the delegate together
     * @return empty if no stored part fits; problems are logged
     */
    Optional<Chosen> kept(
            BudgetedInterpreter cpu, int threads, WeightStream.Io io, long arenaBytes) {
        Setting setting = new Setting(threads, io, whileTwo(arenaBytes), new Turns(), true);
        try (KernelChoice choice = new KernelChoice(cpu, this, setting)) {
            return choice.kept();
        } catch (BudgetTooSmallException e) {
            return Optional.empty();
        } catch (IOException | UnplannableException | RuntimeException e) {
            logger.warn(
                    "{} begins in CPU kernels: {}",
                    cpu.model().graph().name(),
                    UnplannableException.reason(e));
            return Optional.empty();
        }
    }

    /**
     * Returns a faster interpreter of the same copy.
     *
     * @param cpu measured, in CPU kernels; it may predict meanwhile, in a part of its arena
     * @param arenaBytes for the arena and the delegate together
     * @param turns the model's turns; each step of the work takes one
     * @param alone whether no prediction runs meanwhile
     * @return empty if there is none
     * @throws java.util.concurrent.CancellationException if the work is cancelled
     */
    Optional<Chosen> best(
            BudgetedInterpreter cpu,
            int threads,
            WeightStream.Io io,
            long arenaBytes,
            Turns turns,
            boolean alone)
            throws IOException, UnplannableException {
        Setting setting = new Setting(threads, io, whileTwo(arenaBytes), turns, alone);
        try (KernelChoice choice = new KernelChoice(cpu, this, setting)) {
            return choice.best();
        } catch (BudgetTooSmallException e) {
            // The CPU kernels have room, but a second interpreter beside them has not.
            return Optional.empty();
        }
    }
}
