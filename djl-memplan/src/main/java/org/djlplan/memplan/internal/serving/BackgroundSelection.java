package org.djlplan.memplan.internal.serving;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.budget.StreamingPlan;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.internal.serving.BudgetedKernels.Chosen;
import org.djlplan.memplan.internal.thread.Later;
import org.djlplan.memplan.internal.thread.Pause;
import org.djlplan.thirdparty.guava.annotations.VisibleForTesting;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Selects in the background which operators of a streamed model a delegate runs. It begins once the
 * budget has settled, and returns to CPU kernels if the delegate is slow. The fields are guarded by
 * the model's {@link Turns}.
 */
final class BackgroundSelection {

    private static final Logger logger = LoggerFactory.getLogger(BackgroundSelection.class);

    /**
     * After this many predictions that were this many times as slow as CPU kernels, CPU kernels
     * serve again.
     */
    private static final int MOST_SLOW = 5;

    private static final long MUCH_SLOWER = 3;

    private final String name;
    private final int threads;
    private final Optional<BudgetedKernels> kernels;
    private final InterpreterInService service;
    private final Turns turns;
    private final Pause settling = new Pause(InterpreterInService.SETTLED, this::beginToSelect);

    /** The budget for which the delegated operators were selected. */
    private long delegatedForBytes;

    /**
     * Whether CPU kernels run everything because nothing was selected yet for the budget and the
     * inputs.
     */
    private boolean unselected = true;

    private int slowPredictions;

    /**
     * @param name name of the model
     * @param kernels selects the operators that a delegate runs; empty for none
     */
    BackgroundSelection(
            String name,
            int threads,
            Optional<BudgetedKernels> kernels,
            InterpreterInService service) {
        this.name = name;
        this.threads = threads;
        this.kernels = kernels;
        this.service = service;
        turns = service.turns();
    }

    /**
     * Opens a stored selection. Without one, measures the CPU kernels, and selects now or later.
     */
    void begin() throws IOException, UnplannableException, BudgetTooSmallException {
        Optional<Chosen> kept = Optional.empty();
        if (kernels.isPresent()) {
            kept = kernels.get().kept(service.now(), threads, service.io(), service.arenaBytes());
        }
        if (kept.isPresent()) {
            delegate(kept.get());
            useAllBytes();
        } else {
            service.now().calibrate(service.arenaBytes());
        }
        InterpreterInService.trimLater();
        if (kernels.isPresent() && kernels.get().whileLoading() && delegatesTooLittle()) {
            select(true);
            return;
        }
        turns.lock();
        try {
            selectWhenSettled();
        } finally {
            turns.unlock();
        }
    }

    /** Notes, in a turn, that an interpreter in CPU kernels replaced the previous one. */
    void reset() {
        unselected = true;
    }

    /** Returns whether a delegate might run more operators than it does. */
    private boolean delegatesTooLittle() {
        return kernels.isPresent()
                && service.shapes().equals(service.shapesInFile())
                && (unselected || kernels.get().grown(delegatedForBytes, service.arenaBytes()));
    }

    /**
     * Starts the selection of operators, within a turn, once the budget has been stable for a
     * while.
     */
    void selectWhenSettled() {
        if (delegatesTooLittle()) {
            settling.await();
        }
    }

    /** Waits for a turn on a thread of its own, because other work waits for the present one. */
    @VisibleForTesting
    void beginToSelect() {
        if (!Later.start(this::selectInATurn)) {
            settling.await();
        }
    }

    private void selectInATurn() {
        turns.lock();
        try {
            if (!service.isClosed() && delegatesTooLittle()) {
                turns.begin(() -> select(false));
            }
        } finally {
            turns.unlock();
        }
    }

    /**
     * Lets a delegate run the operators that become faster within the budget. This takes several
     * turns.
     *
     * @param alone whether no prediction runs meanwhile
     */
    private void select(boolean alone) {
        change(
                () -> {
                    BudgetedInterpreter cpu = inCpuKernels();
                    long bytes = service.arenaBytes();
                    Optional<Chosen> better =
                            kernels.orElseThrow()
                                    .best(cpu, threads, service.io(), bytes, turns, alone);
                    if (better.isPresent()) {
                        install(better.get());
                    } else {
                        settle();
                    }
                });
    }

    /** A switch of the serving interpreter, which may take several turns. */
    @FunctionalInterface
    private interface Change {

        void make() throws IOException, UnplannableException, BudgetTooSmallException;
    }

    private void change(Change change) {
        try {
            change.make();
        } catch (CancellationException e) {
            logger.debug("{}: {}", name, e.getMessage());
        } catch (IOException
                | UnplannableException
                | BudgetTooSmallException
                | RuntimeException e) {
            logger.warn("{} keeps its kernels: {}", name, UnplannableException.reason(e));
            settle();
        } finally {
            useAllBytes();
        }
    }

    private void install(Chosen chosen) {
        try {
            turns.lockForWork();
        } catch (CancellationException e) {
            chosen.interpreter().close();
            throw e;
        }
        try {
            delegate(chosen);
        } finally {
            turns.unlock();
        }
    }

    private void delegate(Chosen chosen) {
        service.install(chosen.interpreter());
        delegatedForBytes = chosen.forBytes();
        unselected = false;
        slowPredictions = 0;
    }

    /** Prevents further selections until the budget has grown. */
    private void settle() {
        turns.lock();
        try {
            delegatedForBytes = kernels.orElseThrow().atMost(service.arenaBytes());
            unselected = false;
        } finally {
            turns.unlock();
        }
    }

    /** Plans the serving interpreter for all bytes that the selection no longer needs. */
    private void useAllBytes() {
        try {
            StreamingPlan plan = service.now().planned(ownBytes());
            turns.lock();
            try {
                service.now().take(plan);
            } finally {
                turns.unlock();
            }
        } catch (BudgetTooSmallException | UnplannableException e) {
            logger.debug("{}: the plan stays", name, e);
        }
    }

    private long ownBytes() {
        long bytes = service.arenaBytes();
        return service.now().delegates() ? kernels.orElseThrow().atMost(bytes) : bytes;
    }

    /** Returns the interpreter that serves, after all operators have gone to CPU kernels. */
    private BudgetedInterpreter inCpuKernels()
            throws IOException, UnplannableException, BudgetTooSmallException {
        BudgetedInterpreter serving = service.now();
        if (!serving.delegates()) {
            return serving;
        }
        StreamingPlan least = serving.planned(serving.leastArenaBytes());
        turns.lockForWork();
        try {
            // Leaves memory for making a copy, which may be necessary.
            serving.take(least);
        } finally {
            turns.unlock();
        }
        BudgetedInterpreter next = service.plannedInCpuKernels();
        try {
            turns.lockForWork();
        } catch (CancellationException e) {
            next.close();
            throw e;
        }
        try {
            service.replace(next);
            return next;
        } finally {
            turns.unlock();
        }
    }

    /**
     * Watches, in a turn, how long predictions take. With several threads, delegate kernels wait
     * actively for each other. Beside other work they may take many times as long as CPU kernels.
     */
    void watch(long nanos) {
        slowPredictions = nanos / MUCH_SLOWER > service.now().cpuNanos() ? slowPredictions + 1 : 0;
        if (slowPredictions >= MOST_SLOW) {
            slowPredictions = 0;
            turns.begin(this::fallBack);
        }
    }

    private void fallBack() {
        change(
                () -> {
                    BudgetedInterpreter unused = inCpuKernels();
                    logger.warn(
                            "{} is slow with operators delegated: from now on in CPU kernels",
                            name);
                    settle();
                });
    }
}
