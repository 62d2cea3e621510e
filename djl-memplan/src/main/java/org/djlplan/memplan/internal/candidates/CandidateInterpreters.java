package org.djlplan.memplan.internal.candidates;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.tflite.EngineSession.LiveNode;
import org.djlplan.memplan.internal.runtime.tflite.OpenModel;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateException.Kind;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.memplan.spi.CandidateRunner.Trial;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.OutputError.ByOperator;
import org.djlplan.memplan.spi.ShapeMix;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.djlplan.thirdparty.guava.math.Quantiles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs candidates in this process, each with its own interpreter and arena. */
public final class CandidateInterpreters implements CandidateRunner {

    private static final Logger logger = LoggerFactory.getLogger(CandidateInterpreters.class);

    /** Loading a model's weights into the caches once takes at most a few milliseconds. */
    private static final long SLOW_NANOS = 50_000_000;

    private final OpenModel model;
    private final DelegateFactory delegates;
    private final Optional<ShapeMix> mix;
    private final CpuOutputs cpuOutputs;
    private final ProcessMemory memory = new ProcessMemory();
    private final Map<Candidate, Prepared> prepared = new HashMap<>();
    private Optional<OperatorCheck> operators = Optional.empty();

    /** An interpreter with its own arena, the result of its first runs, and its last inference. */
    private record Prepared(MeasuredInterpreter interpreter, Trial trial, long nanos) {

        Prepared timed(long lastNanos) {
            return new Prepared(interpreter, trial, lastNanos);
        }

        /** Returns whether cached data affects the duration of an inference. */
        boolean fast() {
            return nanos < SLOW_NANOS;
        }
    }

    /**
     * Opens a model.
     *
     * @param identity of the file that was loaded, see {@link OpenModel#identity}
     * @param delegate value of {@code delegation.delegate}
     * @param tolerance for the outputs, which determines what is measured
     * @param mix the shapes that inputs have in turn; empty for those in the file
     * @throws IOException if the file cannot be read, is damaged, or was replaced or changed
     * @throws UnplannableException if the model cannot be planned here
     * @throws IllegalArgumentException if there is no such delegate
     */
    public static CandidateInterpreters open(
            Path file,
            String identity,
            String delegate,
            Tolerance tolerance,
            Optional<ShapeMix> mix)
            throws IOException, UnplannableException {
        DelegateFactory delegates = Delegates.named(delegate);
        OpenModel model = opened(file, identity);
        try {
            return new CandidateInterpreters(model, delegates, tolerance, mix);
        } catch (RuntimeException | Error e) {
            model.close();
            throw e;
        }
    }

    /** Opens the file if it is the one that was loaded. */
    private static OpenModel opened(Path file, String identity)
            throws IOException, UnplannableException {
        OpenModel model = OpenModel.of(file);
        if (!model.identity().equals(identity)) {
            model.close();
            throw new IOException(file + " was replaced or changed since it was loaded");
        }
        return model;
    }

    private CandidateInterpreters(
            OpenModel model,
            DelegateFactory delegates,
            Tolerance tolerance,
            Optional<ShapeMix> mix) {
        this.model = model;
        this.delegates = delegates;
        this.mix = mix;
        cpuOutputs =
                mix.isEmpty()
                        ? new CpuOutputs(model.graph(), model.keepsState(), tolerance)
                        : new CpuOutputs(
                                mix.get().shapes().stream()
                                        .map(shapes -> at(model.graph(), shapes))
                                        .toList(),
                                model.keepsState(),
                                tolerance);
    }

    /** Returns a model whose inputs have other shapes; all other tensors are unchanged. */
    private static Graph at(Graph graph, List<List<Integer>> shapes) {
        List<Tensor> tensors = new ArrayList<>(graph.tensors());
        for (int i = 0; i < shapes.size(); i++) {
            Tensor input = tensors.get(graph.inputs().get(i));
            long bytes = input.type().bytes();
            for (int dimension : shapes.get(i)) {
                bytes = Math.multiplyExact(bytes, (long) dimension);
            }
            tensors.set(
                    input.id(),
                    new Tensor(
                            input.id(),
                            input.name(),
                            input.type(),
                            shapes.get(i),
                            bytes,
                            input.storage(),
                            input.region()));
        }
        return new Graph(graph.name(), graph.operators(), tensors, graph.inputs(), graph.outputs());
    }

    @Override
    public List<Set<Integer>> partitions() throws CandidateException {
        try {
            return model.partitions(delegates);
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
            if (!cpuOutputs.known() && candidate.delegates()) {
                try (MeasuredInterpreter cpu = build(Candidate.cpu(candidate.threads()), false)) {
                    cpuOutputs.learn(cpu, candidate.threads());
                }
            }
            long before = liveBytes();
            MeasuredInterpreter interpreter = build(candidate, false);
            try {
                Trial trial = firstRuns(interpreter, before);
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

    private Trial firstRuns(MeasuredInterpreter interpreter, long bytesBefore)
            throws UnplannableException, InterruptedException {
        int partitions = interpreter.description().partitions();
        if (!cpuOutputs.known()) {
            int runs = cpuOutputs.learn(interpreter, interpreter.candidate().threads());
            return new Trial(partitions, cpuOutputs.errors(List.of()), grown(bytesBefore), runs);
        }
        List<List<OutputTensor>> outputs = cpuOutputs.outputs(interpreter);
        long grown = grown(bytesBefore);
        int runsBefore = cpuOutputs.noiseRuns();
        List<OutputError> errors =
                cpuOutputs.judge(outputs, new Measurements(interpreter.candidate()));
        int runs = outputs.size() + cpuOutputs.noiseRuns() - runsBefore;
        boolean byOperator = errors.stream().anyMatch(error -> error.byOperator().isPresent());
        return new Trial(partitions, errors, grown, runs + (byOperator ? OperatorCheck.RUNS : 0));
    }

    /** Takes further measurements of a candidate. */
    private final class Measurements implements CpuOutputs.Measurements {

        private final Candidate candidate;

        Measurements(Candidate candidate) {
            this.candidate = candidate;
        }

        @Override
        public MeasuredInterpreter cpu() throws UnplannableException {
            return build(Candidate.cpu(cpuOutputs.threads()), false);
        }

        /**
         * It cannot be determined if the disk is full, or the file cannot be written completely.
         */
        @Override
        public Optional<ByOperator> worstOperator(List<List<OutputTensor>> outputs)
                throws InterruptedException {
            try {
                if (operators.isEmpty()) {
                    operators =
                            Optional.of(
                                    new OperatorCheck(
                                            model.bytes(),
                                            model.graph(),
                                            delegates,
                                            Path.of(System.getProperty("java.io.tmpdir")),
                                            Long.MAX_VALUE));
                }
                List<List<ByteBuffer>> inputs =
                        IntStream.range(0, outputs.size()).mapToObj(cpuOutputs::input).toList();
                return Optional.of(
                        operators.get().worst(candidate, inputs, outputs, OperatorCheck.Step::run));
            } catch (IOException | UnplannableException e) {
                logger.warn("{}: operators cannot be compared one by one", model.file(), e);
                return Optional.empty();
            }
        }
    }

    private long grown(long bytesBefore) {
        return Math.max(0, liveBytes() - bytesBefore);
    }

    private long liveBytes() {
        ProcessMemory.trim();
        return memory.anonymousBytes().orElse(0);
    }

    private MeasuredInterpreter build(Candidate candidate, boolean timed)
            throws UnplannableException {
        return MeasuredInterpreter.of(model, delegates, candidate, mix, timed);
    }

    @Override
    public long[] time(Candidate candidate, int inferences)
            throws CandidateException, InterruptedException {
        prepare(candidate);
        MeasuredInterpreter interpreter = prepared.get(candidate).interpreter();
        try {
            long[] nanos = new long[inferences];
            if (prepared.get(candidate).fast()) {
                long unused = interpreter.time(cpuOutputs);
            }
            for (int i = 0; i < inferences; i++) {
                nanos[i] = interpreter.time(cpuOutputs);
            }
            prepared.put(candidate, prepared.get(candidate).timed(nanos[inferences - 1]));
            return nanos;
        } catch (UnplannableException | RuntimeException e) {
            release(candidate);
            throw refused(e);
        }
    }

    @Override
    public List<NodeTime> profile(Candidate candidate, int inferences)
            throws CandidateException, InterruptedException {
        try (MeasuredInterpreter interpreter = build(candidate, true)) {
            List<OutputTensor> unused = interpreter.of(cpuOutputs.input(0), 0);
            List<long[]> runs = new ArrayList<>();
            for (int i = 0; i < inferences; i++) {
                runs.add(interpreter.nodeTimes(cpuOutputs));
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
            times.add(
                    new NodeTime(
                            ImmutableSortedSet.copyOf(node.operators()),
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
            operators.ifPresent(OperatorCheck::close);
            model.close();
        }
    }
}
