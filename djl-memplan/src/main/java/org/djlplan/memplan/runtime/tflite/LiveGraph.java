package org.djlplan.memplan.runtime.tflite;

import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Lists;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.runtime.tflite.LiveTensor.Allocation;

/**
 * The graph as the engine has it: the file's operators, with the sizes that the engine resolved and
 * the temporaries that its kernels asked for.
 */
final class LiveGraph {

    private LiveGraph() {}

    /** Returns the tensors that a plan may place, as far as the file tells. */
    static List<Integer> plannable(Graph file) {
        Set<Integer> ends =
                ImmutableSet.<Integer>builder()
                        .addAll(file.inputs())
                        .addAll(file.outputs())
                        .build();
        List<Integer> ids = new ArrayList<>();
        Set<Integer> written =
                file.operators().stream()
                        .flatMap(operator -> operator.outputs().stream())
                        .collect(ImmutableSet.toImmutableSet());
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
    static Graph of(Graph file, TfLiteSession session) throws UnplannableException {
        List<LiveNode> nodes = session.nodes();
        List<LiveTensor> tensors = session.tensors();
        requireSame(file, nodes, tensors, session);
        List<Tensor> graphTensors = new ArrayList<>();
        for (LiveTensor live : tensors) {
            graphTensors.add(tensor(file, graphTensors.size(), live));
        }
        List<Operator> operators = new ArrayList<>();
        for (Operator operator : file.operators()) {
            List<Integer> temporaries = nodes.get(operator.index()).temporaries();
            operators.add(
                    new Operator(
                            operator.index(),
                            operator.type(),
                            operator.inputs(),
                            operator.outputs(),
                            present(temporaries)));
        }
        return new Graph(file.name(), operators, graphTensors, file.inputs(), file.outputs());
    }

    private static Tensor tensor(Graph file, int id, LiveTensor live) {
        boolean known = id < file.tensors().size();
        Optional<Tensor> declared = known ? Optional.of(file.tensors().get(id)) : Optional.empty();
        return new Tensor(
                id,
                declared.map(Tensor::name).orElse(""),
                declared.map(Tensor::type).orElse(ElementType.OPAQUE),
                live.shape(),
                live.bytes(),
                storage(live),
                declared.flatMap(Tensor::region));
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
        return Lists.newArrayList(ids.stream().filter(id -> id >= 0).iterator());
    }

    private static void requireSame(
            Graph file, List<LiveNode> nodes, List<LiveTensor> tensors, TfLiteSession session)
            throws UnplannableException {
        require(nodes.size() == file.operators().size(), "other operators than in the file");
        require(tensors.size() >= file.tensors().size(), "fewer tensors than in the file");
        require(session.inputs().equals(file.inputs()), "other inputs than in the file");
        require(session.outputs().equals(file.outputs()), "other outputs than in the file");
        for (Operator operator : file.operators()) {
            LiveNode node = nodes.get(operator.index());
            boolean same =
                    present(node.inputs()).equals(operator.inputs())
                            && present(node.outputs()).equals(operator.outputs());
            require(same, "operator " + operator.index() + " is not as in the file");
        }
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

    private static void require(boolean condition, String problem) throws UnplannableException {
        if (!condition) {
            throw new UnplannableException("the engine has " + problem);
        }
    }

    /** Returns the span of the engine's own arena, from its first to its last tensor, in bytes. */
    static long engineArenaBytes(List<LiveTensor> tensors) {
        long first = Long.MAX_VALUE;
        long end = 0;
        for (LiveTensor tensor : tensors) {
            if (tensor.allocation() == Allocation.ARENA_RW && tensor.address() != 0) {
                first = Math.min(first, tensor.address());
                end = Math.max(end, tensor.address() + tensor.bytes());
            }
        }
        return end == 0 ? 0 : end - first;
    }
}
