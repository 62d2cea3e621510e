package org.djlplan.memplan.runtime.tflite;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.ImmutableSortedSet;
import com.google.common.math.Quantiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.runtime.ProcessMemory;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateException.Kind;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.memplan.spi.CandidateRunner.Trial;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.DelegationChoice.Origin;
import org.djlplan.memplan.spi.NativeDelegate;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.OutputError.Deviation;
import org.djlplan.memplan.spi.Tolerance;

/** Runs candidates in this process, each in an interpreter and an arena of its own. */
public final class CandidateInterpreters implements CandidateRunner {

    /** Outputs are compared with the CPU kernels' for as many inputs. */
    private static final int INPUTS = 5;

    /** Fewer where the CPU kernels take long. */
    private static final int FEWEST_INPUTS = 2;

    private static final long ENOUGH_NANOS = 1_000_000_000;

    /** To fetch a model's weights into the caches once takes a few milliseconds at most. */
    private static final long SLOW_NANOS = 50_000_000;

    /** So many runs tell how much the CPU kernels' outputs move by chance. */
    private static final int NOISE_RUNS = 8;

    private static final int MOST_NOISE_RUNS = 32;

    private static final long ENOUGH_NOISE_NANOS = 3_000_000_000L;

    /** Operators with outputs between 0 and 1, and those that only move elements. */
    private static final ImmutableSet<String> BOUNDED = ImmutableSet.of("LOGISTIC", "SOFTMAX");

    private static final ImmutableSet<String> MOVING =
            ImmutableSet.of("RESHAPE", "SQUEEZE", "EXPAND_DIMS", "TRANSPOSE");

    private final OpenModel model;
    private final RuntimeOptions options;
    private final DelegateFactory delegates;
    private final List<List<ByteBuffer>> inputs;
    private final ProcessMemory memory = new ProcessMemory();
    private final Map<Candidate, Prepared> prepared = new HashMap<>();
    private final Tolerance tolerance;
    private final Random random = new Random(1);

    /** Outputs of the CPU kernels; empty until they are needed. */
    private List<List<OutputTensor>> reference = List.of();

    private int referenceThreads;

    /** For each output, and from how many runs it is known. */
    private Deviation[] noise = {};

    private int noiseRuns;

    /** Whether there is an input that has a unit in the last place to move by. */
    private final boolean movesInputs;

    /** An interpreter with an arena of its own, what its first runs showed, its last inference. */
    private record Prepared(LeasedInterpreter interpreter, Trial trial, long nanos) {

        Prepared timed(long lastNanos) {
            return new Prepared(interpreter, trial, lastNanos);
        }

        /** Returns whether what the caches hold makes a difference to an inference. */
        boolean fast() {
            return nanos < SLOW_NANOS;
        }
    }

    /**
     * Opens a model.
     *
     * @param delegate as in {@code delegation.delegate}
     * @param options how it is planned; threads are the candidates' own
     * @param tolerance by which outputs will be judged: what is needed for that is measured
     * @throws IOException if the file cannot be read or is damaged
     * @throws UnplannableException if the model cannot be planned here
     * @throws IllegalArgumentException if there is no such delegate
     */
    public static CandidateInterpreters open(
            Path file, String delegate, RuntimeOptions options, Tolerance tolerance)
            throws IOException, UnplannableException {
        DelegateFactory delegates = Delegates.named(delegate);
        OpenModel model = OpenModel.of(file);
        try {
            return new CandidateInterpreters(model, delegates, options, tolerance);
        } catch (RuntimeException | Error e) {
            model.close();
            throw e;
        }
    }

    private CandidateInterpreters(
            OpenModel model,
            DelegateFactory delegates,
            RuntimeOptions options,
            Tolerance tolerance) {
        this.model = model;
        this.tolerance = tolerance;
        this.options = options;
        this.delegates = delegates;
        Graph graph = model.graph();
        movesInputs =
                graph.inputs().stream()
                        .map(id -> graph.tensors().get(id).type())
                        .anyMatch(t -> t == ElementType.FLOAT32 || t == ElementType.FLOAT64);
        inputs = new ArrayList<>();
        for (int seed = 0; seed < INPUTS; seed++) {
            boolean smooth = seed % 2 == 1;
            inputs.add(smooth ? RandomValues.smooth(graph, seed) : RandomValues.of(graph, seed));
        }
    }

    /**
     * Returns the partitions that a delegate reports when it may take everything it supports.
     *
     * @param delegate as in {@code delegation.delegate}
     * @throws IOException if the file cannot be read or is damaged
     * @throws UnplannableException if the model or the delegate cannot be used here
     * @throws IllegalArgumentException if there is no such delegate
     */
    public static List<Set<Integer>> partitions(Path file, String delegate)
            throws IOException, UnplannableException {
        DelegateFactory delegates = Delegates.named(delegate);
        try (OpenModel model = OpenModel.of(file)) {
            return partitions(model, delegates);
        }
    }

    private static List<Set<Integer>> partitions(OpenModel model, DelegateFactory delegates)
            throws UnplannableException {
        try (NativeDelegate delegate = Delegates.create(delegates, 1)) {
            return TfLiteSession.partitions(model.handle(), 1, delegate);
        }
    }

    @Override
    public List<Set<Integer>> partitions() throws CandidateException {
        try {
            return partitions(model, delegates);
        } catch (UnplannableException | RuntimeException e) {
            throw refused(e);
        }
    }

    @Override
    public Trial prepare(Candidate candidate) throws CandidateException, InterruptedException {
        Prepared known = prepared.get(candidate);
        if (known != null) {
            return known.trial();
        }
        try {
            if (reference.isEmpty() && candidate.delegates()) {
                try (LeasedInterpreter cpu = lease(Candidate.cpu(candidate.threads()), false)) {
                    become(candidate.threads(), outputsInTime(cpu));
                }
            }
            long before = liveBytes();
            LeasedInterpreter interpreter = lease(candidate, false);
            try {
                Trial trial = firstRuns(candidate, interpreter, before);
                prepared.put(candidate, new Prepared(interpreter, trial, 0));
                return trial;
            } finally {
                if (!prepared.containsKey(candidate)) {
                    interpreter.close();
                }
            }
        } catch (UnplannableException | RuntimeException e) {
            throw refused(e);
        }
    }

    private void become(int threads, List<List<OutputTensor>> outputs) {
        reference = ImmutableList.copyOf(outputs);
        referenceThreads = threads;
    }

    private Trial firstRuns(Candidate candidate, LeasedInterpreter interpreter, long bytesBefore)
            throws UnplannableException, InterruptedException {
        if (reference.isEmpty()) {
            become(candidate.threads(), outputsInTime(interpreter));
            long grown = Math.max(0, liveBytes() - bytesBefore);
            return trial(interpreter, errors(List.of()), grown, reference.size());
        }
        List<List<OutputTensor>> outputs = new ArrayList<>();
        List<OutputError> errors;
        do {
            outputs.add(interpreter.run(inputs.get(outputs.size())));
            errors = errors(outputs);
        } while (outputs.size() < reference.size()
                && errors.stream().noneMatch(tolerance::refuses));
        long grown = Math.max(0, liveBytes() - bytesBefore);
        int runsBefore = noiseRuns;
        errors = judged(errors);
        return trial(interpreter, errors, grown, outputs.size() + noiseRuns - runsBefore);
    }

    private static Trial trial(
            LeasedInterpreter interpreter, List<OutputError> errors, long bytes, int inferences) {
        return new Trial(interpreter.description().partitions(), errors, bytes, inferences);
    }

    /**
     * Adds the noise if it decides. Of an output of one element the largest of a few runs may be
     * much less than usual, so there are more if it is a near thing.
     */
    private List<OutputError> judged(List<OutputError> errors)
            throws UnplannableException, InterruptedException {
        List<OutputError> known = withNoise(errors);
        if (!movesInputs
                || errors.stream().allMatch(tolerance::admits)
                || errors.stream().anyMatch(tolerance::refuses)) {
            return known;
        }
        long start = System.nanoTime();
        try (LeasedInterpreter cpu = lease(Candidate.cpu(referenceThreads), false)) {
            while (!known.stream().allMatch(tolerance::admits)
                    && (noiseRuns < NOISE_RUNS
                            || (noiseRuns < MOST_NOISE_RUNS
                                    && System.nanoTime() - start < ENOUGH_NOISE_NANOS))) {
                measureNoise(cpu);
                known = withNoise(errors);
            }
        }
        return known;
    }

    private void measureNoise(LeasedInterpreter cpu) {
        int input = noiseRuns % reference.size();
        List<OutputTensor> moved =
                cpu.run(RandomValues.moved(model.graph(), inputs.get(input), random));
        List<OutputTensor> unmoved = reference.get(input);
        if (noise.length == 0) {
            noise = new Deviation[unmoved.size()];
            Arrays.fill(noise, Deviation.NONE);
        }
        for (int output = 0; output < noise.length; output++) {
            Deviation now = OutputDifferences.of(moved.get(output), unmoved.get(output));
            noise[output] = noise[output].and(now);
        }
        noiseRuns++;
    }

    private List<OutputError> withNoise(List<OutputError> errors) {
        if (noise.length == 0) {
            return errors;
        }
        List<OutputError> known = new ArrayList<>();
        for (int output = 0; output < errors.size(); output++) {
            known.add(errors.get(output).withNoise(noise[output]));
        }
        return known;
    }

    private long liveBytes() {
        ProcessMemory.trim();
        return memory.anonymousBytes().orElse(0);
    }

    private LeasedInterpreter lease(Candidate candidate, boolean timed)
            throws UnplannableException, InterruptedException {
        // One for each, so that no candidate finds the arena of another, which would not count.
        RuntimeOptions own = options.withOwnArena();
        InterpreterFactory factory =
                new InterpreterFactory(
                        model.sessions(),
                        model.graph(),
                        own,
                        own.planAtOnce(),
                        delegates,
                        new DelegationChoice(candidate, Origin.MEASURED, "being measured"));
        ModelInterpreter built = factory.build(factory.shapesInFile(), candidate, timed);
        return LeasedInterpreter.of(built, options.arenaWait());
    }

    private List<List<OutputTensor>> outputsInTime(LeasedInterpreter interpreter) {
        List<List<OutputTensor>> outputs = new ArrayList<>();
        long start = System.nanoTime();
        while (outputs.size() < FEWEST_INPUTS
                || (outputs.size() < INPUTS && System.nanoTime() - start < ENOUGH_NANOS)) {
            outputs.add(interpreter.run(inputs.get(outputs.size())));
        }
        return outputs;
    }

    /** Compares outputs, as many as there are, with the CPU kernels'. */
    private List<OutputError> errors(List<List<OutputTensor>> outputs) {
        ImmutableList.Builder<OutputError> worst = ImmutableList.builder();
        for (int output = 0; output < reference.get(0).size(); output++) {
            Deviation deviation = Deviation.NONE;
            for (int input = 0; input < outputs.size(); input++) {
                deviation =
                        deviation.and(
                                OutputDifferences.of(
                                        outputs.get(input).get(output),
                                        reference.get(input).get(output)));
            }
            worst.add(
                    new OutputError(
                            reference.get(0).get(output).info().type(),
                            deviation,
                            Deviation.NONE,
                            headroom(output)));
        }
        return worst.build();
    }

    private double headroom(int output) {
        if (!isBounded(model.graph().outputs().get(output))) {
            return 1;
        }
        double largest =
                reference.stream()
                        .mapToDouble(outputs -> OutputDifferences.largest(outputs.get(output)))
                        .max()
                        .orElse(1);
        return largest > 0 ? Math.max(1, 1 / largest) : 1;
    }

    /** Returns whether a tensor's elements lie between 0 and 1 by the operator that makes them. */
    private boolean isBounded(int tensor) {
        for (Operator operator : model.graph().operators()) {
            if (operator.outputs().contains(tensor)) {
                return BOUNDED.contains(operator.type())
                        || (MOVING.contains(operator.type())
                                && isBounded(operator.inputs().get(0)));
            }
        }
        return false;
    }

    @Override
    public long[] time(Candidate candidate, int inferences)
            throws CandidateException, InterruptedException {
        prepare(candidate);
        LeasedInterpreter interpreter = prepared.get(candidate).interpreter();
        try {
            long[] nanos = new long[inferences];
            if (prepared.get(candidate).fast()) {
                interpreter.runAgain();
            }
            for (int i = 0; i < inferences; i++) {
                long start = System.nanoTime();
                interpreter.runAgain();
                nanos[i] = System.nanoTime() - start;
            }
            prepared.put(candidate, prepared.get(candidate).timed(nanos[inferences - 1]));
            return nanos;
        } catch (RuntimeException e) {
            release(candidate);
            throw refused(e);
        }
    }

    @Override
    public List<NodeTime> profile(Candidate candidate, int inferences)
            throws CandidateException, InterruptedException {
        try (LeasedInterpreter interpreter = lease(candidate, true)) {
            interpreter.run(inputs.get(0));
            List<long[]> runs = new ArrayList<>();
            for (int i = 0; i < inferences; i++) {
                interpreter.runAgain();
                runs.add(interpreter.times());
            }
            return nodeTimes(interpreter.nodes(), runs);
        } catch (UnplannableException | RuntimeException e) {
            throw refused(e);
        }
    }

    private static List<NodeTime> nodeTimes(List<LiveNode> nodes, List<long[]> runs) {
        ImmutableList.Builder<NodeTime> times = ImmutableList.builder();
        for (int i = 0; i < nodes.size(); i++) {
            int index = i;
            double median =
                    Quantiles.median()
                            .compute(runs.stream().mapToLong(run -> run[index]).toArray());
            LiveNode node = nodes.get(i);
            List<Integer> operators = node.delegated() ? node.replaced() : List.of(node.id());
            times.add(
                    new NodeTime(
                            ImmutableSortedSet.copyOf(operators),
                            node.delegated(),
                            Math.round(median)));
        }
        return times.build();
    }

    private static CandidateException refused(Exception e) {
        return new CandidateException(Kind.REFUSED, UnplannableException.reason(e));
    }

    @Override
    public void release(Candidate candidate) {
        Prepared gone = prepared.remove(candidate);
        if (gone != null) {
            gone.interpreter().close();
        }
    }

    @Override
    public void close() {
        try {
            List.copyOf(prepared.keySet()).forEach(this::release);
        } finally {
            model.close();
        }
    }
}
