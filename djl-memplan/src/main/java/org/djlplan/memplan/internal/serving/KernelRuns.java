package org.djlplan.memplan.internal.serving;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.stream.IntStream;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.internal.budget.DerivedConstant;
import org.djlplan.memplan.internal.budget.KernelSelection.Selection;
import org.djlplan.memplan.internal.budget.StreamingPlan;
import org.djlplan.memplan.internal.candidates.CpuOutputs;
import org.djlplan.memplan.internal.candidates.OperatorCheck;
import org.djlplan.memplan.internal.planning.KernelTrials.Faster;
import org.djlplan.memplan.internal.runtime.MappedFile;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;
import org.djlplan.memplan.internal.runtime.tflite.DelegatedPart;
import org.djlplan.memplan.internal.runtime.tflite.OpenModel;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.OutputError.ByOperator;
import org.djlplan.memplan.spi.PairedRatio;
import org.djlplan.memplan.spi.PairedRatio.Noise;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.djlplan.thirdparty.guava.math.Quantiles;
import org.djlplan.thirdparty.guava.primitives.Longs;
import org.djlplan.thirdparty.guava.util.concurrent.Uninterruptibles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tries operators of one streamed model in a delegate. It compares outputs in the same way as
 * delegation without a budget does. Between the steps of a trial ({@link Turns}) the CPU kernels
 * may predict. Only one of the two interpreters (the one on trial and the one of the CPU kernels)
 * has an arena at a time, and the delegate's memory is subtracted from the arena of the CPU
 * kernels.
 */
final class KernelRuns implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(KernelRuns.class);

    private static final long SHORT_NANOS = 50_000_000;
    private static final double MEGA = 1e6;

    /**
     * Further rounds, because a machine that is slow for a while must not rule out the delegate
     * permanently.
     */
    private static final int MORE_ROUNDS = 8;

    /** Bound for accepting the delegate before all rounds, in standard deviations. */
    private static final double EVERY_ROUND = 3;

    private static final Duration APART = Duration.ofMillis(500);

    private final BudgetedInterpreter cpu;
    private final BudgetedKernels kernels;
    private final BudgetedKernels.Setting setting;
    private final CpuOutputs expected;

    /** The model's file, if the copy does not have all of its constants. */
    private final Optional<OpenModel> original;

    /** Times of predictions in CPU kernels. */
    private final List<Long> cpuNanos = new ArrayList<>();

    /** Whether the CPU kernels may have an arena beside the delegate. */
    private boolean hasRoom;

    /**
     * @param cpu in CPU kernels
     * @throws IOException if the model cannot be read, or was changed since the copy was found
     */
    KernelRuns(BudgetedInterpreter cpu, BudgetedKernels kernels, BudgetedKernels.Setting setting)
            throws IOException, UnplannableException {
        this.cpu = cpu;
        this.kernels = kernels;
        this.setting = setting;
        expected =
                new CpuOutputs(cpu.model().graph(), cpu.model().keepsState(), kernels.tolerance());
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
        } catch (IOException | RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** Returns the steps that the delegate supports and whose operands are all available. */
    Set<Integer> delegable() throws UnplannableException {
        Set<Integer> supported = new HashSet<>();
        cpu.model().partitions(kernels.delegates()).forEach(supported::addAll);
        cpu.model().releasePages();
        Set<Integer> steps = new HashSet<>();
        List<List<Integer>> operators = cpu.interpreter().operators();
        for (int step = 0; step < operators.size(); step++) {
            if (supported.containsAll(operators.get(step)) && !cpu.graph().touchesViews(step)) {
                steps.add(step);
            }
        }
        for (DerivedConstant each : cpu.derived()) {
            if (!original.orElseThrow()
                    .hasConstantOf(cpu.model().graph().tensors().get(each.constant()))) {
                steps.remove(each.step());
            }
        }
        return steps;
    }

    /**
     * Opens a set that was tried before.
     *
     * @throws BudgetTooSmallException if it does not fit
     */
    BudgetedInterpreter known(Selection selected, long cpuNanos)
            throws IOException, UnplannableException, BudgetTooSmallException {
        makeRoom(selected.bytes());
        BudgetedInterpreter interpreter = opened(selected);
        try {
            measure(interpreter);
            interpreter.plan(setting.bytes());
            interpreter.noteCpuNanos(cpuNanos);
            logger.info(
                    "{}: {} operators delegated take {} MB, as found before",
                    name(),
                    interpreter.interpreter().delegatedOperators(),
                    rounded(interpreter.delegatedBytes()));
            return interpreter;
        } catch (BudgetTooSmallException | UnplannableException | RuntimeException | Error e) {
            interpreter.close();
            throw e;
        }
    }

    /** The result of a trial. */
    sealed interface Result {

        /** The operators on trial may serve. */
        record Served(BudgetedInterpreter interpreter, Faster trial) implements Result {}

        /** The outputs are outside the tolerance. */
        record Refused(Entry.Wrong entry) implements Result {}

        /** The outputs agreed, but the trial was slower than the CPU kernels. */
        record Slower() implements Result {}

        /**
         * The delegate took more memory than available.
         *
         * @param moreBytes bytes beyond the available room
         */
        record TooLarge(long moreBytes) implements Result {}
    }

    /** Tries a selection. */
    Result tried(Selection selected) throws IOException, UnplannableException {
        learn();
        makeRoom(selected.bytes());
        BudgetedInterpreter interpreter = opened(selected);
        boolean served = false;
        try {
            measure(interpreter);
            interpreter.measureDelegate(cpu, selected.weightBytes());
            interpreter.plan(setting.bytes());
            if (interpreter.delegatedBytes() > selected.bytes()) {
                makeRoom(interpreter.delegatedBytes());
            }
            Result result = judged(interpreter, selected);
            served = result instanceof Result.Served;
            return result;
        } catch (BudgetTooSmallException e) {
            long more = interpreter.delegatedBytes() - selected.bytes();
            logger.debug("{}: the delegate takes {} more bytes", name(), more);
            return new Result.TooLarge(Math.max(1, more));
        } finally {
            if (!served) {
                interpreter.close();
            }
        }
    }

    private String name() {
        return cpu.model().graph().name();
    }

    /** A step of the work. */
    private interface Step<T, E extends Exception> {

        T run() throws UnplannableException, E;
    }

    private <T, E extends Exception> T inATurn(Step<T, E> step) throws UnplannableException, E {
        setting.turns().lockForWork();
        try {
            return step.run();
        } finally {
            setting.turns().unlock();
        }
    }

    private void learn() throws UnplannableException {
        if (!expected.known()) {
            int unused =
                    expected.learn(
                            (values, input) -> inATurn(() -> run(cpu, values, cpuNanos)),
                            setting.threads());
        }
    }

    /**
     * Reduces the arena of the CPU kernels by the delegate's memory, or closes them if they do not
     * fit.
     */
    private void makeRoom(long delegateBytes) throws UnplannableException {
        Optional<StreamingPlan> smaller = Optional.empty();
        try {
            smaller = Optional.of(cpu.planned(setting.bytes() - delegateBytes));
        } catch (BudgetTooSmallException e) {
            logger.debug("{}: no room to predict in CPU kernels beside the delegate", name(), e);
        }
        hasRoom = smaller.isPresent();
        setting.turns().lockForWork();
        try {
            if (smaller.isPresent()) {
                cpu.take(smaller.get());
            }
            cpu.release();
        } finally {
            setting.turns().unlock();
        }
        ProcessMemory.trim();
    }

    private BudgetedInterpreter opened(Selection selected)
            throws IOException, UnplannableException {
        ImmutableSortedSet.Builder<Integer> operators = ImmutableSortedSet.naturalOrder();
        selected.steps().forEach(step -> operators.addAll(cpu.interpreter().operators().get(step)));
        DelegatedPart part = new DelegatedPart(kernels.delegates(), operators.build(), original);
        return cpu.delegating(part, setting.threads(), setting.io(), selected.bytes());
    }

    private void measure(BudgetedInterpreter interpreter)
            throws UnplannableException, BudgetTooSmallException {
        interpreter.plan(setting.bytes());
        setting.turns().lockForWork();
        try {
            cpu.release();
            interpreter.measure();
            interpreter.release();
        } finally {
            setting.turns().unlock();
        }
        ProcessMemory.trim();
    }

    private Result judged(BudgetedInterpreter interpreter, Selection selected)
            throws UnplannableException {
        List<Long> nanos = new ArrayList<>();
        List<List<OutputTensor>> outputs =
                expected.outputs((values, input) -> timed(interpreter, values, nanos));
        List<OutputError> errors;
        try {
            errors = expected.judge(outputs, new Comparison(interpreter, selected));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CancellationException("interrupted");
        }
        Candidate candidate = new Candidate(selected.steps(), setting.threads());
        if (!Entry.accepts(kernels.tolerance(), candidate, errors)) {
            logger.info(
                    "{}: outputs differ with {} operators delegated: {}",
                    name(),
                    interpreter.interpreter().delegatedOperators(),
                    errors);
            return new Result.Refused(new Entry.Wrong(candidate, errors));
        }
        List<Double> logs = new ArrayList<>(List.of(log(cpuNanos, nanos)));
        if (!setting.alone() && hasRoom) {
            timeAgain(interpreter, nanos, logs);
        }
        Entry.Measured entry =
                new Entry.Measured(
                        candidate,
                        interpreter.interpreter().delegateKernels(),
                        Entry.Latency.of(Longs.toArray(nanos)),
                        interpreter.delegatedBytes(),
                        errors);
        Faster trial = new Faster(entry, setting.bytes(), Math.round(median(cpuNanos)));
        logger.info(
                "{}: {} operators delegated take {} MB: {} ms, {} ms in CPU kernels",
                name(),
                interpreter.interpreter().delegatedOperators(),
                rounded(interpreter.delegatedBytes()),
                rounded(entry.latency().medianNanos()),
                rounded(trial.cpuNanos()));
        if (ratio(logs).ratio() <= 1) {
            return new Result.Slower();
        }
        interpreter.noteCpuNanos(trial.cpuNanos());
        return new Result.Served(interpreter, trial);
    }

    /** Returns bytes in MB, or nanoseconds in ms, for people. */
    private static String rounded(long value) {
        return String.format(Locale.ROOT, "%.3g", value / MEGA);
    }

    private static double median(List<Long> nanos) {
        return Math.max(1, Quantiles.median().compute(nanos));
    }

    /** Returns the logarithm of the time in CPU kernels divided by the time with the delegate. */
    private static double log(List<Long> cpu, List<Long> delegated) {
        return Math.log(median(cpu) / median(delegated));
    }

    private static PairedRatio ratio(List<Double> logs) {
        double[] all = logs.stream().mapToDouble(Double::doubleValue).toArray();
        return PairedRatio.of(all, Noise.USUAL, EVERY_ROUND);
    }

    /**
     * Times both in turns until the delegate is certainly faster, because the first round timed
     * them one after the other.
     */
    private void timeAgain(BudgetedInterpreter interpreter, List<Long> nanos, List<Double> logs)
            throws UnplannableException {
        List<ByteBuffer> values = expected.input(0);
        for (int i = 0; i < MORE_ROUNDS && ratio(logs).low() <= 1; i++) {
            Uninterruptibles.sleepUninterruptibly(APART);
            List<Long> delegated = new ArrayList<>();
            List<Long> own = new ArrayList<>();
            List<OutputTensor> unused = timed(interpreter, values, delegated);
            unused = timed(cpu, values, own);
            logs.add(log(own, delegated));
            nanos.addAll(delegated);
            cpuNanos.addAll(own);
        }
    }

    /** Runs one of the two interpreters, which begins and ends without an arena. */
    private List<OutputTensor> timed(
            BudgetedInterpreter which, List<ByteBuffer> values, List<Long> nanos)
            throws UnplannableException {
        return inATurn(
                () -> {
                    cpu.release();
                    List<OutputTensor> outputs = run(which, values, nanos);
                    int last = nanos.size() - 1;
                    if (nanos.get(last) < SHORT_NANOS) {
                        // A turn's first prediction allocates the arena, which matters if it is
                        // short.
                        nanos.remove(last);
                        List<OutputTensor> unused = run(which, values, nanos);
                    }
                    which.release();
                    return outputs;
                });
    }

    private static List<OutputTensor> run(
            BudgetedInterpreter interpreter, List<ByteBuffer> values, List<Long> nanos) {
        long start = System.nanoTime();
        List<OutputTensor> outputs = interpreter.run(values);
        nanos.add(System.nanoTime() - start);
        return outputs;
    }

    /** Takes measurements that only some decisions about a trial need. */
    private final class Comparison implements CpuOutputs.Measurements {

        private final BudgetedInterpreter interpreter;
        private final Selection selected;

        Comparison(BudgetedInterpreter interpreter, Selection selected) {
            this.interpreter = interpreter;
            this.selected = selected;
        }

        /** Compares operators part by part, in the memory beside the delegate. */
        @Override
        public Optional<ByOperator> worstOperator(List<List<OutputTensor>> outputs)
                throws InterruptedException {
            try (MappedFile file = MappedFile.open(cpu.copy().original())) {
                cpu.copy().requireOriginalUnchanged();
                Graph graph = TfLiteGraphs.toGraph(TfLiteReader.read(file.bytes(), name()), name());
                return Optional.of(worstOperator(file.bytes(), graph, outputs));
            } catch (IOException | UnplannableException | UnsupportedPlatformException e) {
                logger.warn(
                        "{}: operators cannot be compared one by one: {}",
                        name(),
                        UnplannableException.reason(e));
                return Optional.empty();
            } finally {
                ProcessMemory.trim();
            }
        }

        private ByOperator worstOperator(
                ByteBuffer file, Graph graph, List<List<OutputTensor>> outputs)
                throws IOException, UnplannableException, InterruptedException {
            try (OperatorCheck check =
                    new OperatorCheck(
                            file,
                            graph,
                            kernels.delegates(),
                            cpu.copy().file().getParent(),
                            setting.bytes() - interpreter.delegatedBytes())) {
                List<List<ByteBuffer>> inputs =
                        IntStream.range(0, outputs.size()).mapToObj(expected::input).toList();
                return check.worst(
                        new Candidate(inOriginal(graph), setting.threads()),
                        inputs,
                        outputs,
                        part -> inATurn(() -> alone(part)));
            }
        }

        private ByOperator alone(OperatorCheck.Step part)
                throws UnplannableException, InterruptedException {
            cpu.release();
            return part.run();
        }

        /** Returns the selected operators in the model's file, which has the same tensors. */
        private ImmutableSortedSet<Integer> inOriginal(Graph graph) throws UnplannableException {
            Set<Integer> outputs = new HashSet<>();
            for (int step : selected.steps()) {
                outputs.addAll(cpu.graph().graph().operators().get(step).outputs());
            }
            ImmutableSortedSet<Integer> operators =
                    graph.operators().stream()
                            .filter(each -> each.outputs().stream().anyMatch(outputs::contains))
                            .map(Operator::index)
                            .collect(ImmutableSortedSet.toImmutableSortedSet(Integer::compare));
            if (operators.size() != interpreter.interpreter().delegatedOperators()) {
                throw new UnplannableException("the copy has other operators");
            }
            return operators;
        }

        @Override
        public CpuOutputs.Interpreter cpu() throws UnplannableException {
            if (!hasRoom) {
                throw new UnplannableException("no room to judge how far its outputs may move");
            }
            return (values, input) -> inATurn(() -> cpu.run(values));
        }
    }

    @Override
    public void close() {
        original.ifPresent(OpenModel::close);
    }
}
