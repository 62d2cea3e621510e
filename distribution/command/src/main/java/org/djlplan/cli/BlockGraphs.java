package org.djlplan.cli;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.source.block.BlockRecording;
import org.djlplan.thirdparty.guava.base.Enums;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.math.LongMath;

/**
 * Converts a recorded prediction of a block to a graph, so that it can be planned like any model.
 *
 * <p>Operators are named after the called methods, and their outputs after the block whose
 * parameters they read; for other operators DJL does not show which block calls them. Arrays that
 * share memory are one tensor. The engine does not report shared memory, so it is derived from the
 * called methods: the methods that return views, including reshapes of arrays that are not
 * permuted. Internal arrays of an operation are left out; arrays that the block keeps or attaches
 * elsewhere belong to the engine.
 */
public final class BlockGraphs {

    private static final ImmutableSet<String> PERMUTING =
            ImmutableSet.of("transpose", "swapAxes", "broadcast");

    private static final ImmutableSet<String> VIEWING =
            ImmutableSet.of(
                    "reshape",
                    "flatten",
                    "squeeze",
                    "expandDims",
                    "split",
                    "stopGradient",
                    "dropout",
                    "transpose",
                    "swapAxes",
                    "broadcast");

    /** Methods that read properties of an array or change its owner, without using its data. */
    private static final ImmutableSet<String> ASKING =
            ImmutableSet.of("close", "attach", "detach", "tempAttach", "returnResource", "size");

    private final BlockRecording recording;
    private final List<Tensor> tensors = new ArrayList<>();
    private final List<Operator> operators = new ArrayList<>();
    private final int[] tensorOf;
    private final boolean[] permuted;
    private final Set<Integer> wanted = new LinkedHashSet<>();

    private BlockGraphs(BlockRecording recording) {
        this.recording = recording;
        tensorOf = new int[recording.created().size()];
        permuted = new boolean[recording.created().size()];
        for (BlockRecording.Operation operation : recording.operations()) {
            wanted.addAll(operation.uses());
        }
        wanted.addAll(recording.outputs());
    }

    /**
     * Returns the graph of a recorded prediction.
     *
     * @param name the model's name
     * @throws ArithmeticException if a dimension or a size is out of range
     */
    public static Graph of(String name, BlockRecording recording) {
        return new BlockGraphs(recording).graph(name);
    }

    private Graph graph(String name) {
        for (int i = 0; i < recording.foreign().size(); i++) {
            BlockRecording.Array array = recording.foreign().get(i);
            add(
                    i < recording.inputCount() ? "" : array.name(),
                    array.type(),
                    i < recording.inputCount() ? Storage.INTERMEDIATE : Storage.CONSTANT);
        }
        int done = 0;
        for (BlockRecording.Operation operation : recording.operations()) {
            // Arrays created between operations are not the result of an operation.
            addCreated(done, operation.firstCreation(), "");
            done = operation.endCreation();
            if (sharesMemory(operation)) {
                view(operation);
            } else {
                operate(operation);
            }
        }
        addCreated(done, tensorOf.length, "");
        ImmutableList.Builder<Integer> outputs = ImmutableList.builder();
        for (int output : recording.outputs()) {
            outputs.add(tensorOf[output]);
        }
        List<Integer> inputs = new ArrayList<>();
        for (int i = 0; i < recording.inputCount(); i++) {
            inputs.add(i);
        }
        return new Graph(name, operators, tensors, inputs, outputs.build());
    }

    private boolean sharesMemory(BlockRecording.Operation operation) {
        int operands = operation.uses().size() + operation.reads().size();
        if (operation.name().equals("get")) {
            // With other arrays as indices the operation copies.
            return operands == 1;
        }
        boolean copies =
                operation.name().equals("reshape")
                        && operation.uses().stream().anyMatch(number -> permuted[number]);
        return operands > 0 && VIEWING.contains(operation.name()) && !copies;
    }

    private void view(BlockRecording.Operation operation) {
        int base =
                operation.uses().isEmpty()
                        ? operation.reads().get(0)
                        : tensorOf[operation.uses().get(0)];
        boolean baseIsPermuted = operation.uses().stream().anyMatch(number -> permuted[number]);
        for (int i = operation.firstCreation(); i < operation.endCreation(); i++) {
            tensorOf[i] = base;
            permuted[i] = baseIsPermuted || PERMUTING.contains(operation.name());
        }
    }

    private void operate(BlockRecording.Operation operation) {
        Set<Integer> read = new LinkedHashSet<>(operation.reads());
        operation.uses().stream()
                .filter(number -> number < operation.firstCreation())
                .forEach(number -> read.add(tensorOf[number]));
        List<Integer> written = new ArrayList<>();
        for (int i = operation.firstCreation(); i < operation.endCreation(); i++) {
            boolean result =
                    wanted.contains(i)
                            || (operation.returnsLastCreation()
                                    && i == operation.endCreation() - 1);
            if (result) {
                addCreated(i, i + 1, blockOf(operation));
                written.add(tensorOf[i]);
            }
        }
        if (!written.isEmpty() || touchesData(operation)) {
            operators.add(
                    new Operator(
                            operators.size(),
                            operation.name(),
                            ImmutableList.copyOf(read),
                            written,
                            ImmutableList.of()));
        }
    }

    private String blockOf(BlockRecording.Operation operation) {
        for (int read : operation.reads()) {
            String parameter = tensors.get(read).name();
            int end = parameter.lastIndexOf('/');
            if (end > 0) {
                return parameter.substring(0, end);
            }
        }
        return "";
    }

    private static boolean touchesData(BlockRecording.Operation operation) {
        String name = operation.name();
        return !name.startsWith("get")
                && !name.startsWith("is")
                && !name.startsWith("has")
                && !name.equals("setName")
                && !ASKING.contains(name)
                && operation.uses().size() + operation.reads().size() > 0;
    }

    private void addCreated(int from, int to, String name) {
        for (int i = from; i < to; i++) {
            BlockRecording.Array array = recording.created().get(i);
            tensorOf[i] = tensors.size();
            add(name, array.type(), array.kept() ? Storage.ENGINE : Storage.INTERMEDIATE);
        }
    }

    private void add(String name, ArrayType type, Storage storage) {
        ElementType elements = elementType(type);
        long bytes = elements.bytes();
        for (long dimension : type.shape()) {
            bytes = LongMath.checkedMultiply(bytes, dimension);
        }
        tensors.add(
                new Tensor(
                        tensors.size(),
                        name,
                        elements,
                        type.shape().stream()
                                .map(Math::toIntExact)
                                .collect(ImmutableList.toImmutableList()),
                        bytes,
                        storage,
                        Optional.empty()));
    }

    private static ElementType elementType(ArrayType type) {
        String name = type.dataType().toUpperCase(Locale.ROOT);
        return switch (name) {
            case "BOOLEAN" -> ElementType.BOOL;
            // The size is the same, and only the size matters here.
            case "BFLOAT16" -> ElementType.FLOAT16;
            default -> Enums.getIfPresent(ElementType.class, name).or(ElementType.OPAQUE);
        };
    }
}
