package org.djlplan.memplan.internal.serving;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.config.BudgetOptions;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.memplan.internal.planning.StreamedCopies;
import org.djlplan.memplan.internal.planning.StreamedModel;
import org.djlplan.memplan.internal.report.Megabytes;
import org.djlplan.memplan.internal.runtime.WeightStream;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.internal.thread.DaemonThreads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Builds interpreters of one model for budgets and input shapes. One thread runs the predictions of
 * all these interpreters.
 */
final class BudgetedInterpreters implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(BudgetedInterpreters.class);

    /**
     * Models are sliced for an arena of this many of these shares of the available bytes, or of
     * fewer.
     */
    private static final int SHARES = 16;

    private static final int LEAST_SHARES = 14;

    private final String name;
    private final int threads;
    private final BudgetOptions options;
    private final StreamedCopies copies;

    /**
     * The one thread that runs predictions. Kernels allocate and free buffers of megabytes. The C
     * library keeps freed memory for the thread that allocated it, and returns none of it to the
     * system. If callers ran predictions, each calling thread would keep as much again. So would a
     * thread that replaces one that has ended.
     */
    private final ExecutorService thread =
            Executors.newSingleThreadExecutor(DaemonThreads.named("djl-plan-budget"));

    /**
     * @param original the model's file
     * @param copies of the model
     */
    BudgetedInterpreters(Path original, PlanOptions options, StreamedCopies copies) {
        this.copies = copies;
        name = original.getFileName().toString();
        threads = options.threads();
        this.options = options.budget();
    }

    /** Returns the part of a budget that is available for the arena and a delegate. */
    long arenaBytes(long budgetBytes) {
        return Math.max(1, budgetBytes - BudgetedInterpreter.bytesBesideArena(threads));
    }

    /**
     * Returns an interpreter with a plan. The layers to slice are chosen from the file alone. If
     * the engine's kernels need more memory than the file shows, the model is sliced for a smaller
     * arena.
     *
     * @param wantedBytes the budget
     * @param shapes of the inputs; empty for those in the file
     * @throws BudgetTooSmallException if the model exceeds the budget, and must not
     * @throws IOException if the model cannot be read, or the copy cannot be written
     * @throws UnplannableException if the engine cannot run it this way
     */
    BudgetedInterpreter planned(long wantedBytes, List<List<Integer>> shapes)
            throws IOException, UnplannableException, BudgetTooSmallException {
        long arenaBytes = arenaBytes(wantedBytes);
        Optional<BudgetTooSmallException> before = Optional.empty();
        for (int shares = SHARES; ; shares--) {
            BudgetedInterpreter next;
            try {
                next = opened(arenaBytes / SHARES * shares, shapes);
            } catch (BudgetTooSmallException e) {
                // The file shows less than what the engine named before.
                throw tooSmall(wantedBytes, before.orElse(e));
            }
            try {
                next.plan(arenaBytes);
                return next;
            } catch (BudgetTooSmallException e) {
                if (shares == LEAST_SHARES
                        || before.filter(b -> e.leastBytes() >= b.leastBytes()).isPresent()) {
                    return inAsLittleAsItCan(next, tooSmall(wantedBytes, e));
                }
                before = Optional.of(e);
                next.close();
            } catch (UnplannableException | RuntimeException | Error e) {
                next.close();
                throw e;
            }
        }
    }

    private BudgetedInterpreter inAsLittleAsItCan(
            BudgetedInterpreter next, BudgetTooSmallException problem)
            throws UnplannableException, BudgetTooSmallException {
        try {
            if (!options.bestEffort()) {
                throw problem;
            }
            logger.warn("{}; it runs in that", problem.getMessage());
            next.plan(next.leastArenaBytes());
            return next;
        } catch (BudgetTooSmallException | UnplannableException | RuntimeException | Error e) {
            next.close();
            throw e;
        }
    }

    private BudgetedInterpreter opened(long arenaBytes, List<List<Integer>> shapes)
            throws IOException, UnplannableException, BudgetTooSmallException {
        StreamedModel copy = copies.of(arenaBytes, shapes, thread);
        return BudgetedInterpreter.open(copy, name, threads, shapes, io(), thread);
    }

    /** Adds the memory beside the arena, because the planner knows only the arena. */
    private BudgetTooSmallException tooSmall(long wantedBytes, BudgetTooSmallException arena) {
        long leastBytes = arena.leastBytes() + BudgetedInterpreter.bytesBesideArena(threads);
        return new BudgetTooSmallException(
                "%s: a budget of %s is too small: %s; at least %s, of which %s are for the engine and djl-plan"
                        .formatted(
                                name,
                                Megabytes.of(wantedBytes),
                                arena.getMessage(),
                                Megabytes.atLeast(leastBytes),
                                Megabytes.of(BudgetedInterpreter.bytesBesideArena(threads))),
                leastBytes);
    }

    /** Returns how weights are read. */
    WeightStream.Io io() throws IOException {
        return switch (options.io()) {
            case CACHED -> WeightStream.Io.CACHED;
            case MMAP -> WeightStream.Io.MMAP;
            case DIRECT -> WeightStream.Io.DIRECT;
            case AUTO ->
                    new Machine().memoryRoom().freeBytes() > 2 * copies.originalBytes()
                            ? WeightStream.Io.CACHED
                            : WeightStream.Io.DIRECT;
        };
    }

    /** Ends the thread. All interpreters must have been closed. */
    @Override
    public void close() {
        thread.shutdown();
    }
}
