package org.djlplan.memplan.internal.runtime.tflite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.plan.MemoryPlanner;
import org.djlplan.memplan.internal.runtime.Arena;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.runtime.tflite.EngineSession.LiveNode;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.NativeDelegate;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * An engine with one model of two operators. Its sessions detect use by two threads at once, use
 * after closing, and a second close.
 */
public final class FakeEngine implements EngineSession.Source {

    /** The shapes in the model's file. */
    public static final List<List<Integer>> IN_FILE = List.of(List.of(1, 4));

    public static final List<List<Integer>> OTHER = List.of(List.of(2, 4));

    /** Whether the engine delegates all operators, whatever the choice is. */
    public volatile boolean delegatesByItself;

    /** The smallest size of a layout by the native library. */
    volatile long leastBytes;

    private static final int FLOAT = 4;
    private static final int CUSTOM_CODE = 32;

    /** The shape of the input at which a session with a delegate cannot be allocated. */
    public volatile List<Integer> delegateRefuses = List.of();

    /** Whether plans fit the tensors of its sessions. */
    public volatile boolean arenaFits = true;

    /** The shapes of the input for which sessions were allocated, in order. */
    public final List<List<Integer>> allocated = new CopyOnWriteArrayList<>();

    /** How often a session predicted. */
    public final AtomicInteger ran = new AtomicInteger();

    public final AtomicInteger open = new AtomicInteger();
    public final AtomicInteger mostOpen = new AtomicInteger();

    /** Runs in a new session before it returns its tensors. */
    public volatile Runnable beforeTensors = () -> {};

    /** Returns the model in the file. */
    public static Graph graph() {
        List<Tensor> tensors =
                List.of(
                        tensor(0, Storage.ENGINE),
                        tensor(1, Storage.INTERMEDIATE),
                        tensor(2, Storage.INTERMEDIATE));
        List<Operator> operators =
                List.of(
                        new Operator(0, "FIRST", List.of(0), List.of(1), List.of()),
                        new Operator(1, "SECOND", List.of(1), List.of(2), List.of()));
        return new Graph("fake", operators, tensors, List.of(0), List.of(2));
    }

    private static Tensor tensor(int id, Storage storage) {
        List<Integer> shape = IN_FILE.get(0);
        return new Tensor(
                id, "t" + id, ElementType.FLOAT32, shape, bytes(shape), storage, Optional.empty());
    }

    private static long bytes(List<Integer> shape) {
        return shape.stream().mapToLong(Integer::longValue).reduce(FLOAT, (a, b) -> a * b);
    }

    /**
     * Returns the factory of the model's interpreters, which lease arenas that all models share.
     */
    public InterpreterFactory factory(DelegateFactory delegates) {
        PlanFinder planner = MemoryPlanner::plan;
        return new InterpreterFactory(this, graph(), planner, delegates, ArenaPool.shared(), false);
    }

    /** The candidates of a choice; all of them can be built. */
    static final class Candidates implements InterpreterPool.Supply {

        private final InterpreterFactory factory;
        private volatile DelegationChoice choice;

        Candidates(InterpreterFactory factory, DelegationChoice choice) {
            this.factory = factory;
            this.choice = choice;
        }

        DelegationChoice choice() {
            return choice;
        }

        void choose(DelegationChoice other) {
            choice = other;
        }

        @Override
        public int candidates() {
            return choice.candidates().size();
        }

        @Override
        public Candidate serving(List<List<Integer>> shapes, Candidate wanted) {
            DelegationChoice now = choice;
            return now.candidates().contains(wanted) ? wanted : now.lightest();
        }

        @Override
        public ModelInterpreter build(List<List<Integer>> shapes, Candidate wanted)
                throws UnplannableException {
            factory.noteUse(shapes);
            return factory.build(shapes, serving(shapes, wanted), false);
        }

        @Override
        public boolean reshapes(ModelInterpreter interpreter, List<List<Integer>> shapes) {
            return factory.reshapes(interpreter, shapes);
        }

        @Override
        public boolean isInFile(List<List<Integer>> shapes) {
            return shapes.equals(factory.shapesInFile());
        }

        @Override
        public void reshape(ModelInterpreter interpreter, List<List<Integer>> shapes)
                throws UnplannableException {
            factory.noteUse(shapes);
            factory.reshape(interpreter, shapes);
        }
    }

    /** Returns the choice of the CPU kernels. */
    public static DelegationChoice cpu(int threads) {
        return new DelegationChoice(Candidate.cpu(threads), Origin.MEASURED, "a test");
    }

    /** Returns the choice to delegate operators. */
    public static DelegationChoice delegated(SortedSet<Integer> operators) {
        return new DelegationChoice(new Candidate(operators, 1), Origin.MEASURED, "a test");
    }

    /** A delegate that runs a given action when it is closed. */
    public record FakeDelegate(Runnable atClose, AtomicInteger live) implements NativeDelegate {

        public FakeDelegate {
            live.incrementAndGet();
        }

        @Override
        public long handle() {
            return 1;
        }

        @Override
        public void close() {
            live.decrementAndGet();
            atClose.run();
        }
    }

    @Override
    public EngineSession open(EngineSession.Spec spec) {
        int now = open.incrementAndGet();
        mostOpen.accumulateAndGet(now, Math::max);
        return new Session(spec);
    }

    private final class Session implements EngineSession {

        private final Spec spec;
        private final AtomicBoolean inUse = new AtomicBoolean();
        private final List<Pointer> memory = new ArrayList<>();
        private List<Integer> shape = IN_FILE.get(0);
        private boolean closed;

        Session(Spec spec) {
            this.spec = spec;
        }

        private void use(Runnable action) {
            assertFalse(inUse.getAndSet(true), "used by two threads");
            assertFalse(closed, "used after it was closed");
            action.run();
            inUse.set(false);
        }

        @Override
        public void resize(int input, List<Integer> wanted) {
            use(() -> shape = wanted);
        }

        @Override
        public void allocate() {
            if (spec.delegated().isPresent() && shape.equals(delegateRefuses)) {
                throw new IllegalStateException("the delegate refuses " + shape);
            }
            use(
                    () -> {
                        allocated.add(shape);
                        memory.clear();
                        Memory both = new Memory(2 * bytes(shape));
                        memory.add(both.share(0));
                        memory.add(both.share(bytes(shape)));
                    });
        }

        @Override
        public void fill(int input, byte[] strings) {
            throw new UnsupportedOperationException("no strings here");
        }

        @Override
        public boolean place(int[] ids, long[] offsets, long arenaBytes) {
            assertEquals(spec.delegated().isPresent() ? 0 : 1, ids.length);
            return true;
        }

        @Override
        public Optional<Fitted> fit() {
            boolean placed = spec.planned().isPresent() && spec.delegated().isEmpty();
            return placed
                    ? Optional.of(new Fitted(bytes(shape), leastBytes, new long[] {-1}))
                    : Optional.empty();
        }

        @Override
        public void invokeStock() {
            use(ran::incrementAndGet);
        }

        @Override
        public boolean invoke(Arena arena) {
            use(() -> assertTrue(arena.bytes() >= bytes(shape)));
            if (arenaFits) {
                ran.incrementAndGet();
            }
            return arenaFits;
        }

        @Override
        public String error() {
            return "";
        }

        @Override
        public List<Integer> inputs() {
            return List.of(0);
        }

        @Override
        public List<Integer> outputs() {
            return List.of(2);
        }

        @Override
        public List<LiveNode> nodes() {
            Set<Integer> all = Set.of(0, 1);
            Set<Integer> taken =
                    delegatesByItself
                            ? all
                            : spec.delegated()
                                    .<Set<Integer>>map(EngineSession.Delegated::operators)
                                    .orElse(Set.of());
            if (taken.equals(all)) {
                return List.of(node(2, List.of(0, 1), List.of(0), List.of(2)));
            }
            List<LiveNode> nodes = new ArrayList<>();
            for (int i : List.of(0, 1)) {
                nodes.add(
                        taken.contains(i)
                                ? node(2, List.of(i), List.of(i), List.of(i + 1))
                                : node(i, List.of(), List.of(i), List.of(i + 1)));
            }
            return nodes;
        }

        private LiveNode node(
                int id, List<Integer> replaced, List<Integer> inputs, List<Integer> outputs) {
            return new LiveNode(
                    id, CUSTOM_CODE, Optional.empty(), replaced, inputs, outputs, List.of());
        }

        @Override
        public long[] times() {
            return new long[0];
        }

        @Override
        public List<LiveTensor> tensors() {
            beforeTensors.run();
            boolean placed = spec.planned().isPresent() && spec.delegated().isEmpty();
            LiveTensor inside = placed ? live(Allocation.CUSTOM, 0) : live(Allocation.ARENA_RW, 0);
            return ImmutableList.of(end(0), inside, end(1));
        }

        private LiveTensor end(int index) {
            return live(Allocation.ARENA_RW, Pointer.nativeValue(memory.get(index)));
        }

        private LiveTensor live(Allocation allocation, long address) {
            boolean ours = allocation == Allocation.CUSTOM;
            return new LiveTensor(1, allocation, false, ours, shape, bytes(shape), address);
        }

        @Override
        public void close() {
            assertFalse(closed, "closed twice");
            closed = true;
            open.decrementAndGet();
        }
    }
}
