package org.djlplan.memplan.runtime.tflite;

import com.google.common.collect.ImmutableList;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.plan.portfolio.EvaluatedPlan;
import org.djlplan.memplan.runtime.Arena;
import org.djlplan.memplan.runtime.ArenaPool;
import org.djlplan.memplan.runtime.WorkspacePool;
import org.djlplan.memplan.runtime.tflite.EngineSession.LiveNode;
import org.djlplan.memplan.runtime.tflite.EngineSession.LiveTensor;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.NativeDelegate;

/**
 * An interpreter of the engine with its delegate, allocated for certain input shapes and, unless it
 * is a stock one, with a plan of its tensors. For one thread at a time.
 */
public final class ModelInterpreter implements AutoCloseable {

    private final EngineSession session;

    /** Freed after the session. */
    private final Optional<NativeDelegate> delegate;

    private final Candidate candidate;
    private final ImmutableList<LiveNode> nodes;
    private final List<List<Integer>> shapes;
    private final Optional<ArenaPool.Need> need;
    private final Optional<WorkspacePool.Resident> workspace;
    private final SessionTensors io;
    private final Description description;
    private Optional<ArenaPool.Lease> kept = Optional.empty();
    private long lastNanos;

    /**
     * The properties of an interpreter that do not change while it lives.
     *
     * @param inputs the model's inputs
     * @param outputs its outputs
     * @param plan the plan; empty for a stock interpreter
     * @param unplannedReason why there is none; empty if there is one
     * @param ownBytes bytes of the engine's own arena
     * @param delegatedOperators how many operators are delegated
     * @param partitions how many delegate kernels they are
     */
    public record Description(
            ImmutableList<TensorInfo> inputs,
            ImmutableList<TensorInfo> outputs,
            Optional<EvaluatedPlan> plan,
            Optional<String> unplannedReason,
            long ownBytes,
            int delegatedOperators,
            int partitions) {

        /** Returns the size of the planned arena in bytes, 0 for a stock interpreter. */
        public long arenaBytes() {
            return plan.map(EvaluatedPlan::arenaBytes).orElse(0L);
        }
    }

    /**
     * @param session allocated and, with a plan, placed
     * @param delegate its delegate, if it has one
     * @param candidate what was asked for
     * @param nodes the nodes that the session executes
     * @param graph the engine's graph
     * @param plan empty for a stock interpreter
     * @param unplannedReason why it is one; empty if it is not
     * @param need the right to lease arenas for the plan, given up when this is closed
     * @param workspace of the delegate, where it is shared with others
     */
    ModelInterpreter(
            EngineSession session,
            Optional<NativeDelegate> delegate,
            Candidate candidate,
            List<LiveNode> nodes,
            Graph graph,
            List<List<Integer>> shapes,
            Optional<EvaluatedPlan> plan,
            Optional<String> unplannedReason,
            Optional<ArenaPool.Need> need,
            Optional<WorkspacePool.Resident> workspace) {
        this.session = session;
        this.workspace = workspace;
        this.delegate = delegate;
        this.candidate = candidate;
        this.nodes = ImmutableList.copyOf(nodes);
        this.need = need;
        this.shapes = shapes;
        List<LiveTensor> tensors = session.tensors();
        io = new SessionTensors(graph, tensors, plan.map(EvaluatedPlan::plan));
        description =
                new Description(
                        io.inputInfos(),
                        io.outputInfos(),
                        plan,
                        unplannedReason,
                        EngineView.arenaBytes(tensors),
                        nodes.stream().mapToInt(node -> node.replaced().size()).sum(),
                        (int) nodes.stream().filter(LiveNode::delegated).count());
    }

    /** Returns what does not change while the interpreter lives. */
    public Description description() {
        return description;
    }

    /** Returns the shapes of the inputs. */
    public List<List<Integer>> shapes() {
        return shapes;
    }

    /** Returns whether it was allocated for these shapes. */
    public boolean hasShapes(List<List<Integer>> wanted) {
        // Nearly always the file's own, which is the same object.
        return shapes == wanted || shapes.equals(wanted);
    }

    /** Returns the candidate that it was built for. */
    public Candidate candidate() {
        return candidate;
    }

    /** Returns whether it delegates what is chosen. */
    public boolean delegates(Candidate chosen) {
        // Nearly always the same object, which equal sets look at first.
        return candidate.equals(chosen);
    }

    /** Returns how long the engine took for the last prediction. */
    public long lastNanos() {
        return lastNanos;
    }

    /** Returns the nodes that it executes. */
    public List<LiveNode> nodes() {
        return nodes;
    }

    /** Returns the nanoseconds of each node in the last prediction; none unless they are taken. */
    public long[] times() {
        return session.times();
    }

    /** Returns whether it has a plan: if not, it is a stock one. */
    public boolean planned() {
        return description.plan().isPresent();
    }

    /** Returns the right to lease arenas; empty if no tensor needs a place in one. */
    public Optional<ArenaPool.Need> need() {
        return need;
    }

    /**
     * Predicts in the arena that the plan asks for.
     *
     * @return empty if the plan does not fit the engine's tensors any more; nothing ran then
     */
    public Optional<List<OutputTensor>> run(List<ByteBuffer> values, Arena arena) {
        io.fill(values);
        boolean fitted = invoke(Optional.of(arena));
        return fitted ? Optional.of(io.results(Optional.of(arena))) : Optional.empty();
    }

    /** Predicts in the engine's own memory. */
    public List<OutputTensor> runStock(List<ByteBuffer> values) {
        io.fill(values);
        boolean unused = invoke(Optional.empty());
        return io.results(Optional.empty());
    }

    /**
     * Lets the engine predict, when it is the turn of its delegate's workspace.
     *
     * @param arena empty for the engine's own memory
     * @return whether the plan still fitted
     */
    private boolean invoke(Optional<Arena> arena) {
        Optional<WorkspacePool.Turn> turn = workspace.map(WorkspacePool.Resident::take);
        try {
            long start = System.nanoTime();
            boolean fitted = true;
            if (arena.isPresent()) {
                fitted = session.invoke(arena.get());
            } else {
                session.invokeStock();
            }
            lastNanos = System.nanoTime() - start;
            return fitted;
        } finally {
            turn.ifPresent(WorkspacePool.Turn::close);
        }
    }

    /**
     * Keeps an arena until this is closed, for measurements: so nothing but the engine is between
     * one run and the next.
     */
    public void keepArena() throws InterruptedException {
        if (need.isPresent() && kept.isEmpty()) {
            kept = Optional.of(need.get().lease(Integer.MAX_VALUE, Duration.ZERO));
        }
    }

    /**
     * Predicts in the arena that it keeps.
     *
     * @throws IllegalStateException if the plan does not fit the engine's tensors any more
     */
    public List<OutputTensor> run(List<ByteBuffer> values) {
        if (kept.isEmpty()) {
            return runStock(values);
        }
        return run(values, kept.get().arena()).orElseThrow(ModelInterpreter::noLongerFits);
    }

    /**
     * Predicts once more in the arena that it keeps, from the inputs that are there; reads no
     * outputs.
     *
     * @throws IllegalStateException if the plan does not fit the engine's tensors any more
     */
    public void runAgain() {
        if (!invoke(kept.map(ArenaPool.Lease::arena))) {
            throw noLongerFits();
        }
    }

    private static IllegalStateException noLongerFits() {
        return new IllegalStateException("the plan no longer fits");
    }

    @Override
    public void close() {
        try {
            session.close();
        } finally {
            try {
                delegate.ifPresent(NativeDelegate::close);
            } finally {
                workspace.ifPresent(WorkspacePool.Resident::close);
                need.ifPresent(ArenaPool.Need::close);
                kept.ifPresent(ArenaPool.Lease::close);
            }
        }
    }
}
