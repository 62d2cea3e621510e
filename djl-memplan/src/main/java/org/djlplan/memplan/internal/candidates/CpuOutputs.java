package org.djlplan.memplan.internal.candidates;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.OutputError.ByOperator;
import org.djlplan.memplan.spi.OutputError.Deviation;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/**
 * The outputs of a model's CPU kernels for a few random inputs, as a reference for candidates. If a
 * comparison needs the noise, this class also measures it. The noise is how much these outputs
 * change when every input changes by one unit in its last place, or by one step (see {@link
 * Tolerance}).
 */
public final class CpuOutputs {

    /** Number of runs that measure the change of outputs by roundings. */
    private static final int NOISE_RUNS = 8;

    /**
     * More runs for a close decision, because the largest change of one element in few runs may be
     * far too small.
     */
    private static final int MOST_NOISE_RUNS = 32;

    private static final long ENOUGH_NOISE_NANOS = 3_000_000_000L;

    /** Operators with outputs between 0 and 1, and operators that only move elements. */
    private static final ImmutableSet<String> BOUNDED = ImmutableSet.of("LOGISTIC", "SOFTMAX");

    private static final ImmutableSet<String> MOVING =
            ImmutableSet.of("RESHAPE", "SQUEEZE", "EXPAND_DIMS", "TRANSPOSE");

    private final Graph graph;

    /** Whether an output also depends on the inputs before. */
    private final boolean keepsState;

    private final Tolerance tolerance;
    private final List<List<ByteBuffer>> inputs;
    private final Random random = new Random(1);

    /** Whether operators are compared; all inputs then change by an 8-bit step for the noise. */
    private final boolean comparesOperators;

    /** Whether any input has a unit in the last place, or a step, by which it can change. */
    private final boolean movesInputs;

    /** By input, then output; empty until needed. */
    private List<List<OutputTensor>> outputs = List.of();

    private int threads;

    /** The noise of each output, and the number of runs for it. */
    private Deviation[] noise = {};

    private int noiseRuns;

    /** A function that runs the model, planned or in a candidate. */
    @FunctionalInterface
    public interface Run {

        /**
         * Returns the outputs.
         *
         * @param input the number of the input
         */
        List<OutputTensor> of(List<ByteBuffer> values, int input) throws UnplannableException;
    }

    /** An interpreter that runs the model. */
    @FunctionalInterface
    public interface Interpreter extends Run, AutoCloseable {

        /** Does nothing if the interpreter is needed for something else afterwards. */
        @Override
        default void close() {}
    }

    /** Takes measurements that only some decisions need. */
    @FunctionalInterface
    public interface Measurements {

        /**
         * Returns an interpreter of the CPU kernels, on {@link #threads()} threads. If the model
         * keeps state, this one has not run yet.
         *
         * @throws UnplannableException if none can be built
         */
        Interpreter cpu() throws UnplannableException, InterruptedException;

        /**
         * Returns the operator that differs most from its CPU kernel.
         *
         * @param outputs of the candidate, by input
         * @return empty if it cannot be determined
         */
        default Optional<ByOperator> worstOperator(List<List<OutputTensor>> outputs)
                throws InterruptedException {
            return Optional.empty();
        }
    }

    /**
     * Creates the reference for the shapes in the model's file.
     *
     * @param keepsState whether the model keeps values from one prediction to the next
     */
    public CpuOutputs(Graph graph, boolean keepsState, Tolerance tolerance) {
        this(
                List.of(graph),
                keepsState,
                tolerance,
                !keepsState && comparesOperators(graph, tolerance));
    }

    /**
     * Creates the reference for other shapes, at which operators are not compared.
     *
     * @param atShapes the model at each of the shapes that inputs have in turn
     * @param keepsState whether the model keeps values from one prediction to the next
     */
    CpuOutputs(List<Graph> atShapes, boolean keepsState, Tolerance tolerance) {
        this(atShapes, keepsState, tolerance, false);
    }

    private CpuOutputs(
            List<Graph> atShapes,
            boolean keepsState,
            Tolerance tolerance,
            boolean comparesOperators) {
        this(
                atShapes.get(0),
                keepsState,
                tolerance,
                comparesOperators,
                RandomValues.kinds(atShapes, comparesOperators));
    }

    /**
     * Creates the reference for given inputs of a model without state, all of which are compared.
     *
     * @param graph a graph whose inputs have their types
     * @param inputs values of all of the model's inputs for each run
     */
    public CpuOutputs(Graph graph, List<List<ByteBuffer>> inputs, Tolerance tolerance) {
        this(graph, false, tolerance, false, inputs);
    }

    private CpuOutputs(
            Graph graph,
            boolean keepsState,
            Tolerance tolerance,
            boolean comparesOperators,
            List<List<ByteBuffer>> inputs) {
        this.graph = graph;
        this.keepsState = keepsState;
        this.tolerance = tolerance;
        this.comparesOperators = comparesOperators;
        this.inputs = ImmutableList.copyOf(inputs);
        movesInputs =
                graph.inputs().stream()
                        .map(id -> graph.tensors().get(id).type())
                        .anyMatch(type -> RandomValues.moves(graph, type, comparesOperators));
    }

    private static boolean comparesOperators(Graph graph, Tolerance tolerance) {
        return tolerance.hard().isEmpty() && OperatorCheck.bytes(graph).isPresent();
    }

    /** Returns whether there are reference outputs. */
    public boolean known() {
        return !outputs.isEmpty();
    }

    /** Returns the values of all of the model's inputs for one run. */
    public List<ByteBuffer> input(int run) {
        return inputs.get(run);
    }

    /** Returns the number of threads with which the outputs were computed. */
    int threads() {
        return threads;
    }

    /** Returns the number of runs for the noise. */
    int noiseRuns() {
        return noiseRuns;
    }

    /**
     * Runs the CPU kernels; their outputs are the reference from then on.
     *
     * @param cpu runs the model without a delegate
     * @param cpuThreads number of threads
     * @return number of runs
     */
    public int learn(Run cpu, int cpuThreads) throws UnplannableException {
        List<List<OutputTensor>> learnt = new ArrayList<>();
        for (int run = 0; run < inputs.size(); run++) {
            learnt.add(cpu.of(inputs.get(run), run));
        }
        outputs = ImmutableList.copyOf(learnt);
        threads = cpuThreads;
        return outputs.size();
    }

    /**
     * Runs a candidate until one of its outputs can no longer be accepted by any further
     * measurement.
     */
    public List<List<OutputTensor>> outputs(Run candidate) throws UnplannableException {
        List<List<OutputTensor>> all = new ArrayList<>();
        do {
            all.add(candidate.of(inputs.get(all.size()), all.size()));
        } while (all.size() < outputs.size()
                && (comparesOperators || errors(all).stream().noneMatch(tolerance::refuses)));
        return all;
    }

    /**
     * Returns the differences of a candidate's outputs from the reference. They include differences
     * of operators, and the noise, if the decision depends on them.
     */
    public List<OutputError> judge(List<List<OutputTensor>> others, Measurements measurements)
            throws UnplannableException, InterruptedException {
        List<OutputError> errors = errors(others);
        if (comparesOperators && !errors.stream().allMatch(Tolerance::isRounding)) {
            Optional<ByOperator> worst = measurements.worstOperator(others);
            if (worst.isEmpty()) {
                return errors;
            }
            errors = errors.stream().map(error -> error.withOperators(worst.get())).toList();
        }
        if (noiseDecides(errors)) {
            measureNoise(measurements, errors);
        }
        return withNoise(errors);
    }

    /** Returns the differences of outputs, one set per input, from the reference; without noise. */
    public List<OutputError> errors(List<List<OutputTensor>> others) {
        ImmutableList.Builder<OutputError> worst = ImmutableList.builder();
        for (int output = 0; output < outputs.get(0).size(); output++) {
            Deviation deviation = Deviation.NONE;
            for (int input = 0; input < others.size(); input++) {
                deviation = deviation.and(deviation(others.get(input).get(output), input, output));
            }
            worst.add(
                    new OutputError(
                            outputs.get(0).get(output).info().type(),
                            deviation,
                            Deviation.NONE,
                            headroom(output)));
        }
        return worst.build();
    }

    /**
     * Returns the difference of an output from the reference. If it is bounded, the difference is
     * relative to the largest element for any input, because a mask may be almost 0 for one input.
     */
    private Deviation deviation(OutputTensor actual, int input, int output) {
        OutputTensor reference = outputs.get(input).get(output);
        Deviation deviation = OutputDifferences.of(actual, reference);
        double own = OutputDifferences.largest(reference);
        return isBoundedOutput(output) && own > 0 && Double.isFinite(deviation.largest())
                ? deviation.times(own / largest(output))
                : deviation;
    }

    private boolean isBoundedOutput(int output) {
        return output < graph.outputs().size() && isBounded(graph.outputs().get(output));
    }

    private double largest(int output) {
        return outputs.stream()
                .mapToDouble(each -> OutputDifferences.largest(each.get(output)))
                .max()
                .orElse(1);
    }

    private double headroom(int output) {
        double largest = isBoundedOutput(output) ? largest(output) : 1;
        return largest > 0 ? Math.max(1, 1 / largest) : 1;
    }

    /** Returns whether the operator that makes a tensor guarantees elements between 0 and 1. */
    private boolean isBounded(int tensor) {
        for (Operator operator : graph.operators()) {
            if (operator.outputs().contains(tensor)) {
                return BOUNDED.contains(operator.type())
                        || (MOVING.contains(operator.type())
                                && isBounded(operator.inputs().get(0)));
            }
        }
        return false;
    }

    /** Returns whether accepting the outputs depends on the noise. */
    private boolean noiseDecides(List<OutputError> errors) {
        return movesInputs
                && !errors.stream().allMatch(tolerance::admits)
                && errors.stream().noneMatch(tolerance::refuses);
    }

    /**
     * Measures the noise as long as it can change the decision. If the model keeps state, an
     * interpreter runs all inputs, as for the reference: its outputs have the state of all inputs
     * before.
     *
     * @param errors of the outputs
     */
    void measureNoise(Measurements measurements, List<OutputError> errors)
            throws UnplannableException, InterruptedException {
        long start = System.nanoTime();
        while (noiseMayDecide(errors, start)) {
            try (Interpreter interpreter = measurements.cpu()) {
                if (keepsState) {
                    for (int input = 0; input < outputs.size(); input++) {
                        measureNoise(interpreter, input);
                    }
                } else {
                    while (noiseMayDecide(errors, start)) {
                        measureNoise(interpreter, noiseRuns % outputs.size());
                    }
                }
            }
        }
    }

    private boolean noiseMayDecide(List<OutputError> errors, long start) {
        return !withNoise(errors).stream().allMatch(tolerance::admits)
                && (noiseRuns < NOISE_RUNS
                        || (noiseRuns < MOST_NOISE_RUNS
                                && System.nanoTime() - start < ENOUGH_NOISE_NANOS));
    }

    private void measureNoise(Run cpu, int input) throws UnplannableException {
        List<OutputTensor> moved =
                cpu.of(
                        RandomValues.moved(graph, inputs.get(input), comparesOperators, random),
                        input);
        List<OutputTensor> unmoved = outputs.get(input);
        if (noise.length == 0) {
            noise = new Deviation[unmoved.size()];
            Arrays.fill(noise, Deviation.NONE);
        }
        for (int output = 0; output < noise.length; output++) {
            noise[output] = noise[output].and(deviation(moved.get(output), input, output));
        }
        noiseRuns++;
    }

    /** Returns the errors with the noise measured so far. */
    List<OutputError> withNoise(List<OutputError> errors) {
        if (noise.length == 0) {
            return errors;
        }
        List<OutputError> known = new ArrayList<>();
        for (int output = 0; output < errors.size(); output++) {
            known.add(errors.get(output).withNoise(noise[output]));
        }
        return known;
    }
}
