package org.djlplan.memplan.internal.serving;

import com.google.common.collect.ImmutableSortedSet;
import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.budget.DerivedConstant;
import org.djlplan.memplan.internal.budget.KernelPlanner;
import org.djlplan.memplan.internal.budget.KernelSelection.Selection;
import org.djlplan.memplan.internal.budget.StepCosts;
import org.djlplan.memplan.internal.budget.StreamingPlan;
import org.djlplan.memplan.internal.budget.StreamingPlanner;
import org.djlplan.memplan.internal.candidates.CpuOutputs;
import org.djlplan.memplan.internal.planning.budget.KeptKernels;
import org.djlplan.memplan.internal.planning.budget.KernelTrials;
import org.djlplan.memplan.internal.planning.budget.KernelTrials.Trial;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.internal.runtime.WeightStream;
import org.djlplan.memplan.internal.runtime.tflite.DelegatedPart;
import org.djlplan.memplan.internal.runtime.tflite.OpenModel;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.internal.serving.BudgetedKernels.Chosen;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.Tolerance;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The choice of the operators of one streamed model that a delegate runs. They are selected by
 * measured times of CPU kernels, then tried; they are used only if outputs agree, the delegate's
 * measured memory leaves room for the rest, and predictions are faster. The measurements are
 * stored.
 *
 * <p>Meanwhile the model predicts in CPU kernels. Only one of the two interpreters has an arena at
 * a time, and the delegate's memory is subtracted from the arena of the CPU kernels.
 */
final class KernelChoice implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(KernelChoice.class);

    /** The second time it is known how far the prediction of its memory was off. */
    private static final int ATTEMPTS = 2;

    private static final long SHORT_NANOS = 50_000_000;
    private static final double MEGA = 1e6;

    /** A machine that is slower for a while is no reason to leave the delegate for good. */
    private static final int MORE_TIMES = 4;

    private static final Duration APART = Duration.ofMillis(500);

    private final BudgetedInterpreter cpu;
    private final Delegate delegate;
    private final int threads;
    private final WeightStream.Io io;
    private final long bytes;
    private final String name;

    /** Has constants that the copy has not. */
    private final Optional<OpenModel> original;

    private final Set<Integer> delegable;
    private final KeptKernels kept;
    private final CpuOutputs expected;
    private final long[] cpuNanos = {Long.MAX_VALUE};

    /** Whether the CPU kernels may have an arena beside the delegate. */
    private boolean hasRoom;

    /**
     * A delegate.
     *
     * @param name by which what was measured of it is kept
     * @param factory makes it, in this process
     * @param tolerance by which outputs are judged against the CPU kernels'
     */
    record Delegate(String name, DelegateFactory factory, Tolerance tolerance) {}

    /**
     * @param cpu in CPU kernels
     * @param bytes for the arena and the delegate together
     * @param cacheFolder for what cannot be kept beside the model
     * @throws IOException if the model cannot be read, or was changed since the copy was found
     * @throws UnplannableException if the delegate cannot look at it
     */
    KernelChoice(
            BudgetedInterpreter cpu,
            Delegate delegate,
            int threads,
            WeightStream.Io io,
            long bytes,
            Path cacheFolder)
            throws IOException, UnplannableException {
        this.cpu = cpu;
        this.delegate = delegate;
        this.threads = threads;
        this.io = io;
        this.bytes = bytes;
        name = cpu.model().graph().name();
        expected = new CpuOutputs(cpu.model().graph(), delegate.tolerance(), false);
        original =
                cpu.derived().isEmpty()
                        ? Optional.empty()
                        : Optional.of(OpenModel.of(cpu.copy().original()));
        try {
            if (original.isPresent()) {
                // The delegate and the CPU kernels have to compute with the same weights.
                cpu.copy().requireOriginalUnchanged();
                original.get().releasePages();
            }
            delegable = delegable();
            kept =
                    new KeptKernels(
                            cpu.copy(),
                            new KeptKernels.Request(
                                    cpu.graph().graph(),
                                    delegable,
                                    delegate.tolerance(),
                                    delegate.name(),
                                    threads,
                                    io),
                            cacheFolder);
        } catch (IOException | UnplannableException | RuntimeException | Error e) {
            original.ifPresent(OpenModel::close);
            throw e;
        }
    }

    /** Steps that the delegate supports and whose operands are all there. */
    private Set<Integer> delegable() throws UnplannableException {
        Set<Integer> supported = new HashSet<>();
        cpu.model().partitions(delegate.factory()).forEach(supported::addAll);
        cpu.model().releasePages();
        Set<Integer> steps = new HashSet<>();
        List<List<Integer>> operators = cpu.interpreter().operators();
        for (int step = 0; step < operators.size(); step++) {
            if (supported.containsAll(operators.get(step)) && !cpu.graph().touchesViews(step)) {
                steps.add(step);
            }
        }
        for (DerivedConstant each : cpu.derived()) {
            if (!original.orElseThrow().hasConstantOf(tensor(each.constant()))) {
                steps.remove(each.step());
            }
        }
        return steps;
    }

    private Tensor tensor(int id) {
        return cpu.model().graph().tensors().get(id);
    }

    /**
     * Returns an interpreter with the part that was found best before, while nobody predicts.
     *
     * @return empty if nothing is kept that fits
     */
    Optional<Chosen> kept() throws IOException, UnplannableException {
        Optional<KernelTrials> before = kept.load();
        if (before.isEmpty()) {
            return Optional.empty();
        }
        try {
            Optional<Trial> best = best(before.get());
            return best.isPresent()
                    ? Optional.of(known(best.get(), new Turns()))
                    : Optional.empty();
        } catch (BudgetTooSmallException e) {
            logger.debug("{}: what was selected before does not fit", name, e);
            return Optional.empty();
        }
    }

    /**
     * Returns the trial that was fastest in no more bytes than these; if there is none, that which
     * is predicted to be.
     */
    private Optional<Trial> best(KernelTrials of) throws BudgetTooSmallException {
        List<Trial> good =
                of.trials().stream()
                        .filter(each -> each.isFaster() && each.isRight(delegate.tolerance()))
                        .toList();
        Optional<Trial> fastest =
                good.stream()
                        .filter(each -> each.forBytes() <= bytes)
                        .min(Comparator.comparingLong(Trial::nanos));
        if (fastest.isPresent() || good.isEmpty()) {
            return fastest;
        }
        KernelPlanner planner = planner(of.costs());
        List<Selection> selections =
                good.stream().map(each -> planner.measured(each.steps(), each.bytes())).toList();
        return planner.best(selections, bytes, cpu.planned(of.costs(), bytes))
                .map(best -> good.get(selections.indexOf(best)));
    }

    private KernelPlanner planner(StepCosts costs) {
        return new KernelPlanner(cpu.graph(), costs, delegable, new StreamingPlanner());
    }

    /**
     * Returns a faster interpreter.
     *
     * @param turns in which each step of the work is done
     * @param alone whether nobody predicts meanwhile
     */
    Optional<Chosen> best(Turns turns, boolean alone)
            throws IOException, UnplannableException, BudgetTooSmallException {
        // What was measured before leads to the same selection as before.
        KernelTrials before = kept.load().orElse(new KernelTrials(cpu.costs(), List.of()));
        Optional<Trial> known = best(before);
        if (known.isPresent() && known.get().forBytes() >= bytes) {
            return knownIfItFits(known.get(), turns);
        }
        KernelPlanner planner = planner(before.costs());
        StreamingPlan cpuPlan = cpu.planned(before.costs(), bytes);
        long cpuBytes = alone ? 0 : cpu.leastArenaBytes();
        long leftBytes = bytes;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Optional<Selection> selected = planner.best(leftBytes, leftBytes - cpuBytes, cpuPlan);
            if (selected.isEmpty()) {
                logger.info("{}: no operators gain by a delegate in its budget", name);
                break;
            }
            Optional<Trial> tried =
                    before.trials().stream()
                            .filter(each -> each.steps().equals(selected.get().steps()))
                            .findFirst();
            if (tried.isPresent()) {
                logger.debug("{}: was tried before: {}", name, tried.get());
                break;
            }
            Result result = tried(selected.get(), turns, alone);
            if (result.chosen().isPresent()) {
                return result.chosen();
            }
            if (result.moreBytes() == 0) {
                break;
            }
            leftBytes = bytes - Math.max(result.moreBytes(), bytes / 16);
        }
        return known.isPresent() ? knownIfItFits(known.get(), turns) : Optional.empty();
    }

    private Optional<Chosen> knownIfItFits(Trial trial, Turns turns)
            throws IOException, UnplannableException {
        try {
            Chosen chosen = known(trial, turns);
            if (trial.forBytes() < bytes) {
                // Nothing is better with more room.
                kept.add(cpu.costs(), trial.selectedFor(bytes));
            }
            return Optional.of(new Chosen(chosen.interpreter(), bytes));
        } catch (BudgetTooSmallException e) {
            logger.debug("{}: what was selected before does not fit", name, e);
            return Optional.empty();
        }
    }

    /** Opens what was tried before. */
    private Chosen known(Trial trial, Turns turns)
            throws IOException, UnplannableException, BudgetTooSmallException {
        Selection selected = planner(cpu.costs()).measured(trial.steps(), trial.bytes());
        makeRoom(selected.bytes(), turns);
        BudgetedInterpreter interpreter = opened(selected);
        try {
            measure(interpreter, turns);
            interpreter.plan(bytes);
            interpreter.noteCpuNanos(trial.cpuNanos());
            logger.info(
                    "{}: {} operators delegated take {} MB, as found before",
                    name,
                    interpreter.interpreter().delegatedOperators(),
                    interpreter.delegatedBytes() / MEGA);
            return new Chosen(interpreter, trial.forBytes());
        } catch (BudgetTooSmallException | UnplannableException | RuntimeException | Error e) {
            interpreter.close();
            throw e;
        }
    }

    /**
     * The result of a trial.
     *
     * @param moreBytes what the delegate took more than there is room for
     */
    private record Result(Optional<Chosen> chosen, long moreBytes) {}

    private Result tried(Selection selected, Turns turns, boolean alone)
            throws IOException, UnplannableException {
        learn(turns);
        makeRoom(selected.bytes(), turns);
        BudgetedInterpreter interpreter = opened(selected);
        boolean taken = false;
        try {
            measure(interpreter, turns);
            interpreter.measureDelegate(cpu, selected.weightBytes());
            interpreter.plan(bytes);
            if (interpreter.delegatedBytes() > selected.bytes()) {
                makeRoom(interpreter.delegatedBytes(), turns);
            }
            Trial trial = judged(interpreter, selected, turns, alone);
            boolean right = trial.isRight(delegate.tolerance());
            // Slower it may have been for anything that goes on beside.
            if (!right || trial.isFaster()) {
                kept.add(cpu.costs(), trial);
            }
            interpreter.noteCpuNanos(trial.cpuNanos());
            taken = right && trial.isFaster();
            return new Result(
                    taken ? Optional.of(new Chosen(interpreter, bytes)) : Optional.empty(), 0);
        } catch (BudgetTooSmallException e) {
            long more = interpreter.delegatedBytes() - selected.bytes();
            logger.debug("{}: the delegate takes {} more bytes", name, more);
            return new Result(Optional.empty(), Math.max(1, more));
        } finally {
            if (!taken) {
                interpreter.close();
            }
        }
    }

    private void learn(Turns turns) {
        if (!expected.known()) {
            int unused =
                    expected.learn(
                            (values, input) -> {
                                turns.lockForWork();
                                try {
                                    return run(cpu, values, cpuNanos);
                                } finally {
                                    turns.unlock();
                                }
                            },
                            threads);
        }
    }

    /** What a delegate takes is taken off the CPU kernels' arena, or they have none. */
    private void makeRoom(long delegateBytes, Turns turns) throws UnplannableException {
        Optional<StreamingPlan> smaller = Optional.empty();
        try {
            smaller = Optional.of(cpu.planned(bytes - delegateBytes));
        } catch (BudgetTooSmallException e) {
            logger.debug("{}: no room to predict in CPU kernels beside the delegate", name, e);
        }
        hasRoom = smaller.isPresent();
        turns.lockForWork();
        try {
            if (smaller.isPresent()) {
                cpu.take(smaller.get());
            }
            cpu.release();
        } finally {
            turns.unlock();
        }
        ProcessMemory.trim();
    }

    private BudgetedInterpreter opened(Selection selected)
            throws IOException, UnplannableException {
        ImmutableSortedSet.Builder<Integer> operators = ImmutableSortedSet.naturalOrder();
        selected.steps().forEach(step -> operators.addAll(cpu.interpreter().operators().get(step)));
        DelegatedPart part = new DelegatedPart(delegate.factory(), operators.build(), original);
        return cpu.delegating(part, threads, io, selected.bytes());
    }

    private void measure(BudgetedInterpreter interpreter, Turns turns)
            throws UnplannableException, BudgetTooSmallException {
        interpreter.plan(bytes);
        turns.lockForWork();
        try {
            cpu.release();
            interpreter.measure();
            interpreter.release();
        } finally {
            turns.unlock();
        }
        ProcessMemory.trim();
    }

    private Trial judged(
            BudgetedInterpreter interpreter, Selection selected, Turns turns, boolean alone)
            throws UnplannableException {
        List<List<OutputTensor>> outputs = new ArrayList<>();
        List<OutputError> errors;
        long[] nanos = {Long.MAX_VALUE};
        do {
            outputs.add(inATurn(interpreter, expected.input(outputs.size()), nanos, turns));
            errors = expected.errors(outputs);
        } while (outputs.size() < expected.inputs()
                && errors.stream().noneMatch(delegate.tolerance()::refuses));
        if (expected.noiseDecides(errors)) {
            errors = withNoise(errors, turns);
        }
        if (!alone && hasRoom && errors.stream().allMatch(delegate.tolerance()::admits)) {
            timeAgain(interpreter, nanos, turns);
        }
        Trial trial =
                new Trial(
                        selected.steps(),
                        bytes,
                        interpreter.delegatedBytes(),
                        nanos[0],
                        cpuNanos[0],
                        errors);
        logger.info(
                "{}: {} operators delegated take {} MB: {} ms, {} ms in CPU kernels{}",
                name,
                interpreter.interpreter().delegatedOperators(),
                interpreter.delegatedBytes() / MEGA,
                nanos[0] / MEGA,
                cpuNanos[0] / MEGA,
                trial.isRight(delegate.tolerance()) ? "" : "; but outputs differ: " + errors);
        return trial;
    }

    /** Both, until the delegate is the faster one: neither was timed while the other was. */
    private void timeAgain(BudgetedInterpreter interpreter, long[] nanos, Turns turns)
            throws UnplannableException {
        List<ByteBuffer> values = expected.input(0);
        for (int i = 0; i < MORE_TIMES && nanos[0] >= cpuNanos[0]; i++) {
            Uninterruptibles.sleepUninterruptibly(APART);
            List<OutputTensor> unused = inATurn(interpreter, values, nanos, turns);
            unused = inATurn(cpu, values, cpuNanos, turns);
        }
    }

    /** Runs one of the two, which begins and ends without an arena. */
    private List<OutputTensor> inATurn(
            BudgetedInterpreter which, List<ByteBuffer> values, long[] nanos, Turns turns)
            throws UnplannableException {
        turns.lockForWork();
        try {
            cpu.release();
            List<OutputTensor> outputs = run(which, values, nanos);
            if (nanos[0] < SHORT_NANOS) {
                // The first one of a turn found no arena, which counts here.
                List<OutputTensor> unused = run(which, values, nanos);
            }
            which.release();
            return outputs;
        } finally {
            turns.unlock();
        }
    }

    private List<OutputError> withNoise(List<OutputError> errors, Turns turns)
            throws UnplannableException {
        if (!hasRoom) {
            throw new UnplannableException("no room to judge how far its outputs may move");
        }
        expected.measureNoise(
                (values, input) -> {
                    turns.lockForWork();
                    try {
                        return cpu.run(values);
                    } finally {
                        turns.unlock();
                    }
                },
                errors);
        return expected.withNoise(errors);
    }

    private static List<OutputTensor> run(
            BudgetedInterpreter interpreter, List<ByteBuffer> values, long[] leastNanos) {
        long start = System.nanoTime();
        List<OutputTensor> outputs = interpreter.run(values);
        leastNanos[0] = Math.min(leastNanos[0], System.nanoTime() - start);
        return outputs;
    }

    @Override
    public void close() {
        original.ifPresent(OpenModel::close);
    }
}
