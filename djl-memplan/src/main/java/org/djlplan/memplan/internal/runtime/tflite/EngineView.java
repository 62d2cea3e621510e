package org.djlplan.memplan.internal.runtime.tflite;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.runtime.tflite.EngineSession.Allocation;
import org.djlplan.memplan.internal.runtime.tflite.EngineSession.LiveNode;
import org.djlplan.memplan.internal.runtime.tflite.EngineSession.LiveTensor;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * A model as seen by the engine: the file's operators, some of them replaced by delegate kernels,
 * with the sizes that the engine resolved and the temporaries that its kernels requested.
 *
 * @param graph the live graph
 * @param arenaBytes span of the engine's own arena, from its first to its last tensor
 * @param arenaOffsets offset in bytes of each tensor in that arena, by id
 */
public record EngineView(Graph graph, long arenaBytes, Map<Integer, Long> arenaOffsets) {

    public EngineView {
        arenaOffsets = ImmutableMap.copyOf(arenaOffsets);
    }

    /**
     * The allocated graph of a session.
     *
     * @param graph the live graph
     * @param nodes the nodes that the engine executes
     * @param tensors the engine's tensors
     */
    record Live(Graph graph, List<LiveNode> nodes, List<LiveTensor> tensors) {}

    private static final Operator.InPlace NOWHERE = new Operator.InPlace(Set.of(), false);

    /**
     * Opens a model in a stock interpreter, reads the view, and closes it. The engine must be
     * loaded.
     *
     * @param threads number of threads, −1 for the engine's default
     * @throws IOException if the file cannot be read or is damaged
     * @throws UnplannableException if the engine cannot run it, or sizes are known only at run time
     */
    public static EngineView of(Path file, int threads) throws IOException, UnplannableException {
        return of(file, threads, List.of());
    }

    /**
     * As {@link #of(Path, int)}.
     *
     * @param shapes of the inputs; empty for those in the file
     */
    public static EngineView of(Path file, int threads, List<List<Integer>> shapes)
            throws IOException, UnplannableException {
        try (OpenModel model = OpenModel.of(file)) {
            return of(model, threads, shapes);
        }
    }

    /**
     * As {@link #of(Path, int)}.
     *
     * @param shapes of the inputs; empty for those in the file
     */
    public static EngineView of(OpenModel model, int threads, List<List<Integer>> shapes)
            throws UnplannableException {
        try (EngineSession session = model.sessions().open(EngineSession.Spec.stock(threads))) {
            for (int i = 0; i < shapes.size(); i++) {
                session.resize(i, shapes.get(i));
            }
            session.allocate();
            Live live = live(model.graph(), session);
            return new EngineView(
                    live.graph(), arenaBytes(live.tensors()), arenaOffsets(live.tensors()));
        } catch (IllegalStateException e) {
            throw new UnplannableException(e.getMessage());
        }
    }

    /**
     * Returns the tensors that a plan may place, judged by the file alone.
     *
     * @param outputs whether the model's outputs may be among them
     */
    static List<Integer> plannable(Graph file, boolean outputs) {
        Set<Integer> ends = new HashSet<>(file.inputs());
        if (!outputs) {
            ends.addAll(file.outputs());
        }
        List<Integer> ids = new ArrayList<>();
        Set<Integer> written = new HashSet<>();
        for (Operator operator : file.operators()) {
            written.addAll(operator.outputs());
        }
        for (Tensor tensor : file.tensors()) {
            boolean mayBeOurs = tensor.storage() == Storage.INTERMEDIATE || isDynamic(tensor);
            if (mayBeOurs && written.contains(tensor.id()) && !ends.contains(tensor.id())) {
                ids.add(tensor.id());
            }
        }
        return ids;
    }

    private static boolean isDynamic(Tensor tensor) {
        return tensor.storage() == Storage.ENGINE;
    }

    /**
     * Returns the live graph of an allocated session.
     *
     * @throws UnplannableException if the engine's graph is not the file's, or has tensors whose
     *     size is known only at run time
     */
    static Live live(Graph file, EngineSession session) throws UnplannableException {
        List<LiveNode> nodes = session.nodes();
        List<LiveTensor> tensors = session.tensors();
        requireSame(file, nodes, tensors, session);
        List<Tensor> graphTensors = new ArrayList<>();
        boolean delegated = false;
        for (LiveNode node : nodes) {
            delegated |= node.delegated();
        }
        for (LiveTensor live : tensors) {
            Storage storage = storage(live);
            if (delegated && live.allocation() == Allocation.ARENA_RW) {
                // Belongs to a delegate kernel, or is inside one.
                storage = Storage.ENGINE;
            }
            graphTensors.add(tensor(file, graphTensors.size(), live, storage));
        }
        List<Operator> operators = new ArrayList<>();
        for (LiveNode node : nodes) {
            operators.add(
                    new Operator(
                            operators.size(),
                            type(file, node),
                            present(node.inputs()),
                            present(node.outputs()),
                            present(node.temporaries()),
                            inPlace(node)));
        }
        return new Live(
                new Graph(file.name(), operators, graphTensors, file.inputs(), file.outputs()),
                nodes,
                tensors);
    }

    /**
     * Returns the engine's report, which counts absent inputs; kernels with absent inputs never
     * overwrite others.
     */
    private static Optional<Operator.InPlace> inPlace(LiveNode node) {
        boolean complete = !node.delegated();
        for (int id : node.inputs()) {
            complete &= id >= 0;
        }
        return complete || node.inPlace().isEmpty() ? node.inPlace() : Optional.of(NOWHERE);
    }

    /**
     * Returns a graph for planning in which outputs are ordinary tensors, which the caller reads
     * after the last operator.
     *
     * @param live the engine's graph
     * @param placed the outputs that a plan must place
     */
    static Graph withReadOutputs(Graph live, Set<Integer> placed) {
        if (placed.isEmpty()) {
            return live;
        }
        List<Operator> operators = new ArrayList<>(live.operators());
        operators.add(
                new Operator(
                        operators.size(),
                        "READ_OUTPUTS",
                        ImmutableList.copyOf(placed),
                        List.of(),
                        List.of()));
        List<Integer> others = new ArrayList<>(live.outputs());
        others.removeAll(placed);
        return new Graph(live.name(), operators, live.tensors(), live.inputs(), others);
    }

    private static String type(Graph file, LiveNode node) {
        return node.delegated() ? Operator.DELEGATE : file.operators().get(node.id()).type();
    }

    private static Tensor tensor(Graph file, int id, LiveTensor live, Storage storage) {
        if (id >= file.tensors().size()) {
            return new Tensor(
                    id,
                    "",
                    ElementType.OPAQUE,
                    live.shape(),
                    live.bytes(),
                    storage,
                    Optional.empty());
        }
        Tensor declared = file.tensors().get(id);
        return new Tensor(
                id,
                declared.name(),
                declared.type(),
                live.shape(),
                live.bytes(),
                storage,
                declared.region());
    }

    private static Storage storage(LiveTensor live) {
        if (live.variable()) {
            return Storage.VARIABLE;
        }
        switch (live.allocation()) {
            case MMAP_RO:
                return Storage.CONSTANT;
            case ARENA_RW:
            case CUSTOM:
                return Storage.INTERMEDIATE;
            default:
                return Storage.ENGINE;
        }
    }

    private static List<Integer> present(List<Integer> ids) {
        List<Integer> present = new ArrayList<>(ids.size());
        for (Integer id : ids) {
            if (id >= 0) {
                present.add(id);
            }
        }
        return present;
    }

    private static void requireSame(
            Graph file, List<LiveNode> nodes, List<LiveTensor> tensors, EngineSession session)
            throws UnplannableException {
        require(tensors.size() >= file.tensors().size(), "fewer tensors than in the file");
        require(session.inputs().equals(file.inputs()), "other inputs than in the file");
        require(session.outputs().equals(file.outputs()), "other outputs than in the file");
        Set<Integer> seen = new HashSet<>();
        for (LiveNode node : nodes) {
            for (int id : node.operators()) {
                require(id >= 0 && id < file.operators().size(), "an operator " + id);
                require(seen.add(id), "operator " + id + " twice");
            }
            if (!node.delegated()) {
                Operator operator = file.operators().get(node.id());
                boolean same =
                        present(node.inputs()).equals(operator.inputs())
                                && present(node.outputs()).equals(operator.outputs());
                require(same, "operator " + operator.index() + " is not as in the file");
            }
        }
        require(seen.size() == file.operators().size(), "other operators than in the file");
        for (Tensor tensor : file.tensors()) {
            LiveTensor live = tensors.get(tensor.id());
            if (live.allocation() == Allocation.DYNAMIC) {
                throw new UnplannableException(
                        "the size of tensor "
                                + tensor.id()
                                + " ("
                                + tensor.name()
                                + ") is known only at run time");
            }
            boolean constantAsInFile =
                    tensor.storage() != Storage.CONSTANT || live.bytes() == tensor.bytes();
            require(constantAsInFile, "tensor " + tensor.id() + " is not as in the file");
        }
    }

    /**
     * Makes sure that only chosen operators are delegated, because some builds of the engine apply
     * their own delegate.
     *
     * @param chosen operators
     * @throws UnplannableException if others are delegated, too
     */
    static void requireChosen(List<LiveNode> nodes, Set<Integer> chosen)
            throws UnplannableException {
        for (LiveNode node : nodes) {
            boolean asChosen = !node.delegated() || chosen.containsAll(node.operators());
            require(asChosen, "delegated operators that were not chosen: " + node.operators());
        }
    }

    private static void require(boolean condition, String problem) throws UnplannableException {
        if (!condition) {
            throw new UnplannableException("the engine has " + problem);
        }
    }

    /** Returns the span of the engine's own arena, from its first to its last tensor, in bytes. */
    static long arenaBytes(List<LiveTensor> tensors) {
        long end = 0;
        for (LiveTensor tensor : tensors) {
            if (isInArena(tensor)) {
                end = Math.max(end, tensor.address() + tensor.bytes());
            }
        }
        return end == 0 ? 0 : end - arenaStart(tensors);
    }

    /** Returns the bytes that kernels keep in the engine's memory from one run to the next. */
    static long persistentBytes(List<LiveTensor> tensors) {
        long bytes = 0;
        for (LiveTensor tensor : tensors) {
            bytes += tensor.allocation() == Allocation.ARENA_RW_PERSISTENT ? tensor.bytes() : 0;
        }
        return bytes;
    }

    private static Map<Integer, Long> arenaOffsets(List<LiveTensor> tensors) {
        long start = arenaStart(tensors);
        ImmutableMap.Builder<Integer, Long> offsets = ImmutableMap.builder();
        for (int i = 0; i < tensors.size(); i++) {
            if (isInArena(tensors.get(i))) {
                offsets.put(i, tensors.get(i).address() - start);
            }
        }
        return offsets.buildOrThrow();
    }

    private static long arenaStart(List<LiveTensor> tensors) {
        return tensors.stream()
                .filter(EngineView::isInArena)
                .mapToLong(LiveTensor::address)
                .min()
                .orElse(0);
    }

    private static boolean isInArena(LiveTensor tensor) {
        return tensor.allocation() == Allocation.ARENA_RW && tensor.address() != 0;
    }
}
