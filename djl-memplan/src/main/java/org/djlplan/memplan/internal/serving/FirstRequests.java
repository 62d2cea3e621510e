package org.djlplan.memplan.internal.serving;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.candidates.CpuOutputs;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.OutputError.ByOperator;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Copies of the first requests to a model, for which the outputs of delegates are compared with the
 * CPU kernels'. The random inputs of the measuring process may be unlike the application's inputs.
 * The copies stay in this process. Thread-safe.
 */
final class FirstRequests {

    private static final int MOST = 3;

    /** Limit of the copies; larger requests are not compared. */
    private static final long MOST_BYTES = 16 << 20;

    private final Graph graph;
    private final Tolerance tolerance;

    // Guarded by this.
    private final List<Request> requests = new ArrayList<>();
    private long bytes;
    private boolean full;

    /**
     * A request and its outputs.
     *
     * @param delegated whether a delegate computed the outputs, which were not compared yet
     */
    private record Request(
            List<ByteBuffer> inputs, List<OutputTensor> outputs, boolean delegated) {}

    /**
     * @param tolerance for the outputs
     */
    FirstRequests(Graph graph, Tolerance tolerance) {
        this.graph = graph;
        this.tolerance = tolerance;
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
        if (!isFinite(inputs)) {
            return false;
        }
        requests.add(
                new Request(
                        inputs.stream().map(FirstRequests::copy).toList(),
                        outputs.stream()
                                .map(o -> new OutputTensor(o.info(), copy(o.data())))
                                .toList(),
                        delegated));
        bytes += more;
        full = requests.size() == MOST;
        return true;
    }

    private static ByteBuffer copy(ByteBuffer values) {
        ByteBuffer copy = ByteBuffer.allocate(values.remaining()).order(ByteOrder.nativeOrder());
        return copy.put(values.duplicate()).rewind();
    }

    /** Returns whether no number is a NaN or infinite, for which delegates give other results. */
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

    /** Forgets the copies, and takes no more. */
    synchronized void close() {
        requests.clear();
        full = true;
    }

    /**
     * Compares a candidate's outputs for the requests that CPU kernels computed.
     *
     * @param candidate runs it
     * @param cpu opens interpreters of the CPU kernels
     * @return an output that differs too much, for people; empty if there is none
     */
    Optional<String> compare(CpuOutputs.Run candidate, CpuOutputs.Interpreters cpu)
            throws UnplannableException, InterruptedException {
        List<Request> known = computedByCpu();
        List<List<OutputTensor>> outputs = new ArrayList<>();
        for (Request each : known) {
            outputs.add(candidate.of(each.inputs(), outputs.size()));
        }
        return difference(known, outputs, cpu);
    }

    /**
     * Compares the outputs that a delegate computed with the CPU kernels', which replace them.
     *
     * @param cpu opens interpreters of the CPU kernels
     * @return an output that differs too much, for people; empty if there is none
     */
    Optional<String> compareServed(CpuOutputs.Interpreters cpu)
            throws UnplannableException, InterruptedException {
        List<Request> served = taken();
        if (served.isEmpty()) {
            return Optional.empty();
        }
        List<Request> known = new ArrayList<>();
        try (CpuOutputs.Interpreter interpreter = cpu.open()) {
            for (Request each : served) {
                known.add(
                        new Request(
                                each.inputs(), interpreter.of(each.inputs(), known.size()), false));
            }
        }
        synchronized (this) {
            requests.addAll(known);
        }
        return difference(known, served.stream().map(Request::outputs).toList(), cpu);
    }

    private synchronized List<Request> computedByCpu() {
        return requests.stream()
                .filter(each -> !each.delegated())
                .collect(ImmutableList.toImmutableList());
    }

    /** Removes and returns the requests that a delegate computed. */
    private synchronized List<Request> taken() {
        List<Request> taken = requests.stream().filter(Request::delegated).toList();
        requests.removeIf(Request::delegated);
        return taken;
    }

    private Optional<String> difference(
            List<Request> expected, List<List<OutputTensor>> outputs, CpuOutputs.Interpreters cpu)
            throws UnplannableException, InterruptedException {
        if (expected.isEmpty()) {
            return Optional.empty();
        }
        CpuOutputs reference =
                new CpuOutputs(graph, expected.stream().map(Request::inputs).toList(), tolerance);
        int unused = reference.learn((values, run) -> expected.get(run).outputs(), 1);
        List<OutputError> errors =
                reference.judge(
                        outputs,
                        new CpuOutputs.Measurements() {
                            @Override
                            public Optional<ByOperator> worstOperator(
                                    List<List<OutputTensor>> others) {
                                return Optional.empty();
                            }

                            @Override
                            public void noise(List<OutputError> found)
                                    throws UnplannableException, InterruptedException {
                                reference.measureNoise(cpu, found);
                            }
                        });
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
