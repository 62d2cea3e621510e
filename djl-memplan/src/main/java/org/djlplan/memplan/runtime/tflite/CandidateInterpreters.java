package org.djlplan.memplan.runtime.tflite;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSortedSet;
import com.google.common.math.Quantiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.runtime.ProcessMemory;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateException.Kind;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.DelegationChoice.Origin;
import org.djlplan.memplan.spi.NativeDelegate;
import org.djlplan.memplan.spi.NodeTime;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.Trial;

/** Runs candidates in this process, each in an interpreter and an arena of its own. */
public final class CandidateInterpreters implements CandidateRunner {

    /** Outputs are compared with the CPU kernels' for as many inputs. */
    private static final int INPUTS = 5;

    /** Fewer where the CPU kernels take long. */
    private static final int FEWEST_INPUTS = 2;

    private static final long ENOUGH_NANOS = 1_000_000_000;

    private final OpenModel model;
    private final RuntimeOptions options;
    private final DelegateFactory delegates;
    private final List<List<ByteBuffer>> inputs;
    private final ProcessMemory memory = new ProcessMemory();
    private final Map<Candidate, Prepared> prepared = new HashMap<>();
    private final Map<Integer, List<List<OutputTensor>>> references = new HashMap<>();

    /** An interpreter with an arena of its own, and what its first runs showed. */
    private record Prepared(LeasedInterpreter interpreter, Trial trial) {}

    /**
     * Opens a model.
     *
     * @param delegate as in {@code delegation.delegate}
     * @param options how it is planned; threads are the candidates' own
     * @throws IOException if the file cannot be read or is damaged
     * @throws UnplannableException if the model cannot be planned here
     * @throws IllegalArgumentException if there is no such delegate
     */
    public static CandidateInterpreters open(Path file, String delegate, RuntimeOptions options)
            throws IOException, UnplannableException {
        DelegateFactory delegates = Delegates.named(delegate);
        OpenModel model = OpenModel.of(file);
        try {
            return new CandidateInterpreters(model, delegates, options);
        } catch (RuntimeException | Error e) {
            model.close();
            throw e;
        }
    }

    private CandidateInterpreters(
            OpenModel model, DelegateFactory delegates, RuntimeOptions options) {
        this.model = model;
        this.options = options;
        this.delegates = delegates;
        Graph graph = model.graph();
        inputs = new ArrayList<>();
        for (int seed = 0; seed < INPUTS; seed++) {
            inputs.add(RandomValues.of(graph, seed));
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
            Optional<List<List<OutputTensor>>> reference = reference(candidate);
            long before = liveBytes();
            LeasedInterpreter interpreter = lease(candidate, false);
            try {
                Trial trial = firstRuns(candidate, interpreter, reference, before);
                prepared.put(candidate, new Prepared(interpreter, trial));
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

    private Trial firstRuns(
            Candidate candidate,
            LeasedInterpreter interpreter,
            Optional<List<List<OutputTensor>>> reference,
            long bytesBefore) {
        List<List<OutputTensor>> outputs =
                reference.isPresent()
                        ? outputs(interpreter, reference.get().size())
                        : outputsInTime(interpreter);
        long grown = Math.max(0, liveBytes() - bytesBefore);
        if (reference.isEmpty()) {
            references.put(candidate.threads(), outputs);
        }
        return new Trial(
                interpreter.description().partitions(),
                errors(outputs, reference.orElse(outputs)),
                grown,
                outputs.size());
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
                        PlanFinder.atOnce(own),
                        delegates,
                        new DelegationChoice(candidate, Origin.MEASURED, "being measured"));
        PlannedInterpreter built = factory.build(factory.shapesInFile(), candidate, timed);
        return LeasedInterpreter.of(built, options.arenaWait());
    }

    /**
     * The outputs of the CPU kernels with as many threads, which are not prepared for that; empty
     * for themselves when they are the first.
     */
    private Optional<List<List<OutputTensor>>> reference(Candidate candidate)
            throws UnplannableException, InterruptedException {
        List<List<OutputTensor>> known = references.get(candidate.threads());
        if (known == null && candidate.delegates()) {
            try (LeasedInterpreter cpu = lease(Candidate.cpu(candidate.threads()), false)) {
                known = outputsInTime(cpu);
            }
            references.put(candidate.threads(), known);
        }
        return Optional.ofNullable(known);
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

    private List<List<OutputTensor>> outputs(LeasedInterpreter interpreter, int count) {
        return inputs.subList(0, count).stream()
                .map(interpreter::run)
                .collect(ImmutableList.toImmutableList());
    }

    private static List<OutputError> errors(
            List<List<OutputTensor>> outputs, List<List<OutputTensor>> reference) {
        List<OutputError> worst = new ArrayList<>();
        for (int output = 0; output < reference.get(0).size(); output++) {
            double difference = 0;
            for (int input = 0; input < reference.size(); input++) {
                difference =
                        Math.max(
                                difference,
                                OutputDifferences.of(
                                        outputs.get(input).get(output),
                                        reference.get(input).get(output)));
            }
            worst.add(new OutputError(reference.get(0).get(output).info().type(), difference));
        }
        return worst;
    }

    @Override
    public long[] time(Candidate candidate, int inferences)
            throws CandidateException, InterruptedException {
        prepare(candidate);
        LeasedInterpreter interpreter = prepared.get(candidate).interpreter();
        try {
            long[] nanos = new long[inferences];
            interpreter.runAgain();
            for (int i = 0; i < inferences; i++) {
                long start = System.nanoTime();
                interpreter.runAgain();
                nanos[i] = System.nanoTime() - start;
            }
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
