package org.djlplan.memplan.internal.runtime.tflite;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.internal.plan.EvaluatedPlan;
import org.djlplan.memplan.internal.runtime.Arena;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.runtime.WorkspacePool;
import org.djlplan.memplan.internal.runtime.tflite.EngineSession.LiveNode;
import org.djlplan.memplan.internal.runtime.tflite.EngineSession.LiveTensor;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.NativeDelegate;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * An interpreter of the engine, with its delegate if it has one. It is allocated for certain input
 * shapes, and its tensors get places in an arena unless it is a stock interpreter. It can be
 * reallocated for other shapes. Not thread-safe.
 */
public final class ModelInterpreter implements AutoCloseable {

    private final EngineSession session;

    /** Freed after the session. */
    private final Optional<NativeDelegate> delegate;

    private final Candidate candidate;
    private final boolean shares;

    /** The delegate's workspace, if it shares pages with others. */
    private Optional<WorkspacePool.Resident> workspace = Optional.empty();

    /** Changed by the thread that uses this, and read by threads that report. */
    private volatile Allocated allocated;

    private Optional<ArenaPool.Lease> kept = Optional.empty();
    private long lastNanos;

    /** Whether the engine ran, perhaps not to the end, since it was allocated. */
    private boolean ran;

    /**
     * The engine's allocation for the shapes of the inputs.
     *
     * @param shapes the inputs' shapes
     * @param nodes the nodes that the session executes
     * @param io inputs and outputs
     * @param description the properties that do not change until the shapes do
     * @param need the right to lease arenas for the plan; empty if no tensor needs a place
     * @param grows whether the shapes differ from those in the file, so that the arena serves
     *     inputs of any shape
     * @param heldBytes bytes of the engine's own arenas and the delegate's own workspace
     */
    private record Allocated(
            List<List<Integer>> shapes,
            ImmutableList<LiveNode> nodes,
            SessionTensors io,
            Description description,
            Optional<ArenaPool.Need> need,
            boolean grows,
            long heldBytes) {}

    /**
     * The places of tensors.
     *
     * @param plan the plan; empty for a stock interpreter, or if the native library found the
     *     places
     * @param unplannedReason why it is a stock interpreter; empty if it is not
     * @param arenaBytes size of the arena that the tensors need
     */
    record Places(
            Optional<EvaluatedPlan> plan, Optional<String> unplannedReason, long arenaBytes) {}

    /**
     * The properties of an interpreter that do not change while it has the same shapes.
     *
     * @param inputs the model's inputs
     * @param outputs the model's outputs
     * @param plan the plan; empty for a stock interpreter, and for shapes that occurred too seldom
     * @param unplannedReason why it is a stock interpreter; empty if it is not
     * @param ownBytes bytes of the engine's own arena
     * @param arenaBytes bytes of the arena that it leases, 0 for a stock interpreter
     * @param delegatedOperators how many operators are delegated
     * @param partitions how many delegate kernels run them
     */
    public record Description(
            ImmutableList<TensorInfo> inputs,
            ImmutableList<TensorInfo> outputs,
            Optional<EvaluatedPlan> plan,
            Optional<String> unplannedReason,
            long ownBytes,
            long arenaBytes,
            int delegatedOperators,
            int partitions) {

        public long neededBytes() {
            return ownBytes + arenaBytes;
        }

        /** Returns the same with other inputs and outputs. */
        public Description of(
                ImmutableList<TensorInfo> otherInputs, ImmutableList<TensorInfo> otherOutputs) {
            return new Description(
                    otherInputs,
                    otherOutputs,
                    plan,
                    unplannedReason,
                    ownBytes,
                    arenaBytes,
                    delegatedOperators,
                    partitions);
        }

        /** Returns the description of a model whose shapes are unknown. */
        public static Description before(
                ImmutableList<TensorInfo> inputs, ImmutableList<TensorInfo> outputs) {
            return new Description(inputs, outputs, Optional.empty(), Optional.empty(), 0, 0, 0, 0);
        }
    }

    /**
     * @param session allocated and, with a plan, placed
     * @param delegate its delegate, if it has one
     * @param candidate the requested candidate
     * @param shares whether the delegate's workspace shares pages with others, if possible
     */
    ModelInterpreter(
            EngineSession session,
            Optional<NativeDelegate> delegate,
            Candidate candidate,
            boolean shares) {
        this.session = session;
        this.shares = shares;
        this.delegate = delegate;
        this.candidate = candidate;
    }

    EngineSession session() {
        return session;
    }

    /**
     * Makes the delegate's workspace share pages with others, if requested. To be called after each
     * allocation of the session, because XNNPACK may have replaced the workspace.
     */
    void shareWorkspace() {
        if (shares && delegate.isPresent()) {
            workspace = Delegates.share(delegate.get(), workspace);
        }
    }

    /**
     * Sets the shapes that the session was allocated for, and the resulting properties.
     *
     * @param shapes the inputs' shapes
     * @param nodes the nodes that the session executes
     * @param tensors the session's tensors
     * @param io inputs and outputs
     * @param places of the tensors that djl-plan places
     * @param need the right to lease arenas for them; closed when this is closed, or gets another
     *     need
     * @param grows whether these are other shapes than in the file, whose need is for inputs of any
     *     shape
     */
    void allocated(
            List<List<Integer>> shapes,
            List<LiveNode> nodes,
            List<LiveTensor> tensors,
            SessionTensors io,
            Places places,
            Optional<ArenaPool.Need> need,
            boolean grows) {
        ran = false;
        Optional<ArenaPool.Need> before = allocated == null ? Optional.empty() : allocated.need();
        int delegatedOperators = 0;
        int kernels = 0;
        for (LiveNode node : nodes) {
            delegatedOperators += node.replaced().size();
            kernels += node.delegated() ? 1 : 0;
        }
        Description description =
                new Description(
                        io.inputInfos(),
                        io.outputInfos(),
                        places.plan(),
                        places.unplannedReason(),
                        EngineView.arenaBytes(tensors),
                        places.arenaBytes(),
                        delegatedOperators,
                        kernels);
        long workspaceBytes =
                workspace.isPresent() || delegate.isEmpty()
                        ? 0
                        : Delegates.workspaceBytes(delegate.get());
        allocated =
                new Allocated(
                        shapes,
                        ImmutableList.copyOf(nodes),
                        io,
                        description,
                        need,
                        grows,
                        description.ownBytes()
                                + EngineView.persistentBytes(tensors)
                                + workspaceBytes);
        if (kept.isPresent()) {
            kept.get().close();
        }
        kept = Optional.empty();
        if (before.isPresent() && (need.isEmpty() || need.get() != before.get())) {
            before.get().close();
        }
    }

    /** Returns the need of arenas for inputs of any shape, if it has one. */
    Optional<ArenaPool.Need> growingNeed() {
        return allocated == null || !allocated.grows() ? Optional.empty() : allocated.need();
    }

    /** Returns whether a delegate runs some of its operators. */
    boolean delegates() {
        return delegate.isPresent();
    }

    /** Returns the properties that do not change while the interpreter has the same shapes. */
    public Description description() {
        return allocated.description();
    }

    /** Returns the bytes of the engine's own arenas and of a delegate's own workspace. */
    public long heldBytes() {
        return allocated.heldBytes();
    }

    public List<List<Integer>> shapes() {
        return allocated.shapes();
    }

    public boolean hasShapes(List<List<Integer>> wanted) {
        // Nearly always the file's own, which is the same object.
        List<List<Integer>> shapes = allocated.shapes();
        return shapes == wanted || shapes.equals(wanted);
    }

    boolean hasShapesInFile() {
        return !allocated.grows();
    }

    public Candidate candidate() {
        return candidate;
    }

    /** Returns whether this interpreter delegates the chosen operators. */
    public boolean delegates(Candidate chosen) {
        // Nearly always the same object, which equals() checks first.
        return candidate.equals(chosen);
    }

    /** Returns how long the engine took for the last prediction. */
    public long lastNanos() {
        return lastNanos;
    }

    /**
     * Returns whether the engine ran, perhaps not to the end, since it was allocated: only then it
     * may have state that a new interpreter has not.
     */
    public boolean ran() {
        return ran;
    }

    public List<LiveNode> nodes() {
        return allocated.nodes();
    }

    /**
     * Returns the nanoseconds of each node in the last prediction; empty unless the session is
     * timed.
     */
    public long[] times() {
        return session.times();
    }

    /** Returns whether its tensors have places in an arena: if not, it is a stock one. */
    public boolean planned() {
        return description().unplannedReason().isEmpty();
    }

    /**
     * Returns an arena for the plan; empty if no tensor needs a place in one.
     *
     * @throws org.djlplan.memplan.internal.runtime.NoArenaException if there is no memory for one
     */
    public Optional<ArenaPool.Lease> lease() {
        Allocated now = allocated;
        if (now.need().isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(now.need().get().lease(now.description().arenaBytes()));
    }

    /**
     * Predicts in the arena that the plan asks for.
     *
     * @return empty if the plan does not fit the engine's tensors any more; nothing ran then
     */
    public Optional<List<OutputTensor>> run(List<ByteBuffer> values, Arena arena) {
        SessionTensors io = allocated.io();
        io.fill(values);
        boolean fitted = invoke(Optional.of(arena));
        return fitted ? Optional.of(io.results(Optional.of(arena))) : Optional.empty();
    }

    /** Predicts in the engine's own memory. */
    public List<OutputTensor> runStock(List<ByteBuffer> values) {
        SessionTensors io = allocated.io();
        io.fill(values);
        boolean unused = invoke(Optional.empty());
        return io.results(Optional.empty());
    }

    /**
     * Lets the engine predict, while its delegate's workspace has its pages to itself.
     *
     * @param arena empty for the engine's own memory
     * @return whether the plan still fitted
     */
    private boolean invoke(Optional<Arena> arena) {
        if (workspace.isPresent()) {
            workspace.get().take();
        }
        try {
            long start = System.nanoTime();
            boolean ranBefore = ran;
            boolean fitted = true;
            ran = true;
            if (arena.isPresent()) {
                fitted = session.invoke(arena.get());
                ran = fitted || ranBefore;
            } else {
                session.invokeStock();
            }
            lastNanos = System.nanoTime() - start;
            return fitted;
        } finally {
            if (workspace.isPresent()) {
                workspace.get().release();
            }
        }
    }

    /**
     * Leases an arena until this is closed, for measurements, so that only the engine runs between
     * two runs.
     */
    public void keepArena() {
        if (kept.isEmpty()) {
            kept = lease();
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

    /** Sets the inputs of {@link #runAgain}. */
    public void fill(List<ByteBuffer> values) {
        allocated.io().fill(values);
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
                if (delegate.isPresent()) {
                    delegate.get().close();
                }
            } finally {
                if (workspace.isPresent()) {
                    workspace.get().close();
                }
                if (allocated != null && allocated.need().isPresent()) {
                    allocated.need().get().close();
                }
                if (kept.isPresent()) {
                    kept.get().close();
                }
            }
        }
    }
}
