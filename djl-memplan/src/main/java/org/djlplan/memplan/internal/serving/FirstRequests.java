package org.djlplan.memplan.internal.serving;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.candidates.CpuOutputs;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.memplan.internal.runtime.Buffers;
import org.djlplan.memplan.internal.runtime.tflite.InterpreterFactory;
import org.djlplan.memplan.internal.runtime.tflite.ModelInterpreter;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.Tolerance;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies of the first requests to a model, for which the outputs of delegates are compared with the
 * CPU kernels'. The random inputs of the measuring process may be unlike the application's inputs.
 * The copies stay in this process. Thread-safe.
 */
final class FirstRequests {

    private static final Logger logger = LoggerFactory.getLogger(FirstRequests.class);

    private static final int MOST = 3;

    /** Limit of the copies; larger requests are not compared. */
    private static final long MOST_BYTES = 16 << 20;

    /** For classes, outputs, and memory that the C library keeps. */
    private static final long BYTES_TO_COMPARE = 32 << 20;

    private final Graph graph;
    private final Tolerance tolerance;
    private final InterpreterFactory factory;
    private final PlannedRuns runs;

    // Guarded by this.
    /** Those that the CPU kernels computed. */
    private final List<Request> known = new ArrayList<>();

    /** Those that a delegate computed, whose outputs were not compared yet. */
    private List<Request> served = new ArrayList<>();

    private int noted;
    private long bytes;
    private boolean full;

    /** A request and its outputs. */
    private record Request(List<ByteBuffer> inputs, List<OutputTensor> outputs) {}

    /**
     * @param tolerance for the outputs
     * @param factory of interpreters
     * @param runs runs them
     */
    FirstRequests(Graph graph, Tolerance tolerance, InterpreterFactory factory, PlannedRuns runs) {
        this.graph = graph;
        this.tolerance = tolerance;
        this.factory = factory;
        this.runs = runs;
    }

    /**
     * Copies a request if it is one of the first.
     *
     * @param delegated whether a delegate computed the outputs
     * @return whether it was copied
     */
    synchronized boolean note(
            List<ByteBuffer> inputs, List<OutputTensor> outputs, boolean delegated) {
        if (full) {
            return false;
        }
        long more =
                inputs.stream().mapToLong(ByteBuffer::remaining).sum()
                        + outputs.stream().mapToLong(each -> each.data().remaining()).sum();
        if (bytes + more > MOST_BYTES) {
            full = true;
            return false;
        }
        (delegated ? served : known)
                .add(
                        new Request(
                                inputs.stream().map(Buffers::copy).toList(),
                                outputs.stream()
                                        .map(
                                                o ->
                                                        new OutputTensor(
                                                                o.info(), Buffers.copy(o.data())))
                                        .toList()));
        bytes += more;
        noted++;
        full = noted == MOST;
        return true;
    }

    /** Forgets the copies, and takes no more. */
    synchronized void close() {
        known.clear();
        served.clear();
        full = true;
    }

    /**
     * Compares a delegate's outputs for the requests that CPU kernels computed.
     *
     * @param delegated a new interpreter for the shapes in the file
     * @return an output that differs too much, for people; empty if there is none, or nothing could
     *     be compared
     */
    Optional<String> compare(ModelInterpreter delegated) {
        List<Request> expected = computedByCpu();
        if (expected.isEmpty()) {
            return Optional.empty();
        }
        return tried(
                () -> {
                    List<List<OutputTensor>> outputs = new ArrayList<>();
                    for (Request each : expected) {
                        outputs.add(runs.run(delegated).of(each.inputs(), outputs.size()));
                    }
                    return difference(expected, outputs, delegated.candidate().threads());
                });
    }

    /**
     * Compares the outputs that a delegate computed with the CPU kernels', which replace them.
     *
     * @param threads of the CPU kernels
     * @return as {@link #compare} does
     */
    Optional<String> compareServed(int threads) {
        List<Request> compared = taken();
        if (compared.isEmpty()) {
            return Optional.empty();
        }
        return tried(
                () -> {
                    List<Request> expected = new ArrayList<>();
                    try (CpuOutputs.Interpreter cpu = cpu(threads)) {
                        for (Request each : compared) {
                            expected.add(
                                    new Request(
                                            each.inputs(), cpu.of(each.inputs(), expected.size())));
                        }
                    }
                    synchronized (this) {
                        known.addAll(expected);
                    }
                    return difference(
                            expected, compared.stream().map(Request::outputs).toList(), threads);
                });
    }

    private interface Comparison {
        Optional<String> run() throws UnplannableException, InterruptedException;
    }

    /** Compares, unless memory is short: interpreters of the CPU kernels need more. */
    private Optional<String> tried(Comparison comparison) {
        long predictionBytes =
                runs.needed().peak().map(PlanReport.Peak::predictionBytes).orElse(0L);
        try {
            if (new Machine().memoryRoom().freeBytes() > 2 * predictionBytes + BYTES_TO_COMPARE) {
                return comparison.run();
            }
            logger.debug("Little memory is free: requests to {} are not compared", graph.name());
        } catch (UnplannableException | InterruptedException | RuntimeException e) {
            logger.debug("The first requests to {} are not compared", graph.name(), e);
        }
        return Optional.empty();
    }

    /** Opens an interpreter of the CPU kernels for the shapes in the file. */
    private CpuOutputs.Interpreter cpu(int threads) throws UnplannableException {
        ModelInterpreter cpu = runs.ready(factory.shapesInFile(), Candidate.cpu(threads));
        CpuOutputs.Run run = runs.run(cpu);
        return new CpuOutputs.Interpreter() {
            @Override
            public List<OutputTensor> of(List<ByteBuffer> values, int input)
                    throws UnplannableException {
                return run.of(values, input);
            }

            @Override
            public void close() {
                cpu.close();
            }
        };
    }

    private List<Request> computedByCpu() {
        List<Request> all;
        synchronized (this) {
            all = List.copyOf(known);
        }
        return comparable(all);
    }

    /** Removes and returns the requests that a delegate computed. */
    private List<Request> taken() {
        List<Request> taken;
        synchronized (this) {
            taken = served;
            served = new ArrayList<>();
        }
        return comparable(taken);
    }

    /** Leaves out requests with a NaN or an infinity, for which delegates give other results. */
    private List<Request> comparable(List<Request> requests) {
        return requests.stream().filter(each -> isFinite(each.inputs())).toList();
    }

    private boolean isFinite(List<ByteBuffer> inputs) {
        for (int i = 0; i < inputs.size(); i++) {
            if (graph.tensors().get(graph.inputs().get(i)).type() == ElementType.FLOAT32) {
                ByteBuffer values = inputs.get(i).duplicate().order(ByteOrder.nativeOrder());
                while (values.remaining() >= Float.BYTES) {
                    if (!Float.isFinite(values.getFloat())) {
                        return false;
                    }
                }
            }
        }
        return true;
    }

    private Optional<String> difference(
            List<Request> expected, List<List<OutputTensor>> outputs, int threads)
            throws UnplannableException, InterruptedException {
        CpuOutputs reference =
                new CpuOutputs(graph, expected.stream().map(Request::inputs).toList(), tolerance);
        int unused = reference.learn((values, run) -> expected.get(run).outputs(), 1);
        List<OutputError> errors = reference.judge(outputs, () -> cpu(threads));
        for (int i = 0; i < errors.size(); i++) {
            OutputError error = errors.get(i);
            if (!tolerance.admits(error)) {
                return Optional.of(
                        "%s differs by %.1e, the limit is %.1e"
                                .formatted(
                                        outputs.get(0).get(i).info().name(),
                                        error.difference(),
                                        tolerance.limit(error)));
            }
        }
        return Optional.empty();
    }
}
