package org.djlplan.memplan.runtime.tflite;

import com.google.common.collect.ImmutableList;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.plan.portfolio.EvaluatedPlan;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.OrderReport;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.runtime.Arena;
import org.djlplan.memplan.runtime.ArenaPool;
import org.djlplan.memplan.runtime.PlanFigures;
import org.djlplan.memplan.spi.Candidate;

/**
 * An interpreter with the shapes it was allocated for and, unless it is a stock one, the plan of
 * its tensors. For one thread at a time.
 */
final class ModelInterpreter implements AutoCloseable {

    private final DelegatedSession delegated;
    private final EngineSession session;
    private final List<List<Integer>> shapes;
    private final Optional<ShapePlan> plan;
    private final Optional<ArenaPool.Need> need;
    private final ImmutableList<ByteBuffer> inputs;
    private final ImmutableList<OutputTensor> outputs;
    private final long ownBytes;
    private final Description description;
    private long lastNanos;

    /**
     * What the interpreter of the file's own shapes is like.
     *
     * @param inputs the model's inputs
     * @param outputs its outputs
     * @param plan the plan; empty for a stock interpreter
     * @param unplannedReason why there is none; empty if there is one
     * @param ownBytes bytes of the engine's own arena
     * @param delegatedOperators how many operators are delegated
     * @param partitions how many delegate kernels they are
     */
    record Description(
            ImmutableList<TensorInfo> inputs,
            ImmutableList<TensorInfo> outputs,
            Optional<EvaluatedPlan> plan,
            Optional<String> unplannedReason,
            long ownBytes,
            int delegatedOperators,
            int partitions) {

        /** Returns the report of a model whose interpreters this describes. */
        PlanReport report(
                List<PlanReport.Interpreter> interpreters,
                long predictions,
                long unplanned,
                Optional<DelegationReport> delegation,
                Optional<OrderReport> order) {
            return new PlanReport(
                    "TFLite",
                    unplannedReason,
                    PlanFigures.of(plan, ownBytes),
                    interpreters,
                    new PlanReport.Predictions(predictions, unplanned, 0, 0),
                    delegation,
                    order);
        }
    }

    /**
     * @param delegated allocated and, with a plan, placed
     * @param plan empty for a stock interpreter
     * @param unplannedReason why it is one; empty if it is not
     * @param need the right to lease arenas for the plan, given up when this is closed
     */
    ModelInterpreter(
            DelegatedSession delegated,
            Graph graph,
            List<List<Integer>> shapes,
            Optional<ShapePlan> plan,
            Optional<String> unplannedReason,
            Optional<ArenaPool.Need> need) {
        this.need = need;
        this.delegated = delegated;
        session = delegated.session();
        this.shapes = shapes;
        this.plan = plan;
        List<LiveTensor> tensors = session.tensors();
        ownBytes = LiveGraph.engineArenaBytes(tensors);
        inputs =
                graph.inputs().stream()
                        .map(id -> memory(tensors.get(id)))
                        .collect(ImmutableList.toImmutableList());
        outputs =
                graph.outputs().stream()
                        .map(
                                id ->
                                        new OutputTensor(
                                                info(graph.tensors().get(id)),
                                                memory(tensors.get(id))))
                        .collect(ImmutableList.toImmutableList());
        description =
                new Description(
                        infos(graph, graph.inputs()),
                        infos(graph, graph.outputs()),
                        plan.map(ShapePlan::memory),
                        unplannedReason,
                        ownBytes,
                        delegated.delegatedOperators(),
                        delegated.partitions());
    }

    /** Returns what does not change while the interpreter lives. */
    Description description() {
        return description;
    }

    private static ImmutableList<TensorInfo> infos(Graph graph, List<Integer> ids) {
        return ids.stream()
                .map(id -> info(graph.tensors().get(id)))
                .collect(ImmutableList.toImmutableList());
    }

    private static TensorInfo info(Tensor tensor) {
        return new TensorInfo(tensor.name(), tensor.type(), tensor.shape(), tensor.bytes());
    }

    private static ByteBuffer memory(LiveTensor tensor) {
        return new Pointer(tensor.address())
                .getByteBuffer(0, tensor.bytes())
                .order(ByteOrder.nativeOrder());
    }

    /** Returns the shapes of the inputs. */
    List<List<Integer>> shapes() {
        return shapes;
    }

    /** Returns whether it was allocated for these shapes. */
    boolean hasShapes(List<List<Integer>> wanted) {
        // Nearly always the file's own, which is the same object.
        return shapes == wanted || shapes.equals(wanted);
    }

    /** Returns what it was built for. */
    Candidate candidate() {
        return delegated.candidate();
    }

    /** Returns whether it delegates what is chosen. */
    boolean delegates(Candidate chosen) {
        // Nearly always the same object, which equal sets look at first.
        return candidate().equals(chosen);
    }

    /** Returns how long the engine took for the last prediction. */
    long lastNanos() {
        return lastNanos;
    }

    /** Returns the nodes that it executes. */
    List<LiveNode> nodes() {
        return delegated.nodes();
    }

    /** Returns the nanoseconds of each node in the last prediction; none unless they are taken. */
    long[] times() {
        return session.times();
    }

    /** Returns the plan, or empty for a stock interpreter. */
    Optional<ShapePlan> plan() {
        return plan;
    }

    /** Returns the right to lease arenas; empty if no tensor needs a place in one. */
    Optional<ArenaPool.Need> need() {
        return need;
    }

    /** Returns the bytes that the engine's own arena holds. */
    long ownBytes() {
        return ownBytes;
    }

    /**
     * Predicts in the arena that the plan asks for.
     *
     * @return empty if the plan does not fit the engine's tensors any more; nothing ran then
     */
    Optional<List<OutputTensor>> run(List<ByteBuffer> values, Arena arena) {
        fill(values);
        long start = System.nanoTime();
        boolean fitted = session.invoke(arena);
        lastNanos = System.nanoTime() - start;
        return fitted ? Optional.of(results()) : Optional.empty();
    }

    /** Predicts in the engine's own memory. */
    List<OutputTensor> runStock(List<ByteBuffer> values) {
        fill(values);
        long start = System.nanoTime();
        session.invokeStock();
        lastNanos = System.nanoTime() - start;
        return results();
    }

    /**
     * Runs once more from the inputs that are there; nobody reads the outputs.
     *
     * @param arena empty if no tensor needs a place in one
     * @return whether the plan still fitted
     */
    boolean runAgain(Optional<Arena> arena) {
        if (arena.isPresent()) {
            return session.invoke(arena.get());
        }
        session.invokeStock();
        return true;
    }

    private void fill(List<ByteBuffer> values) {
        for (int i = 0; i < values.size(); i++) {
            inputs.get(i).rewind().put(values.get(i).duplicate());
        }
    }

    private List<OutputTensor> results() {
        List<OutputTensor> results = new ArrayList<>(outputs.size());
        for (OutputTensor output : outputs) {
            // On the heap: fresh native memory would cost page faults with every prediction.
            ByteBuffer copy =
                    ByteBuffer.allocate(output.data().capacity()).order(ByteOrder.nativeOrder());
            copy.put(output.data().duplicate().rewind()).rewind();
            results.add(new OutputTensor(output.info(), copy));
        }
        return results;
    }

    @Override
    public void close() {
        try {
            delegated.close();
        } finally {
            need.ifPresent(ArenaPool.Need::close);
        }
    }
}
