package org.djlplan.memplan.internal.source.tflite;

import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.djlplan.memplan.graph.ElementType;

/** Checks that a model is consistent. Throws {@link InvalidModelException} only. */
final class ModelCheck {

    private final List<TfLiteOperatorCode> operatorCodes;
    private final List<TfLiteSubgraph> subgraphs;
    private final List<TfLiteBytes> buffers;

    ModelCheck(
            List<TfLiteOperatorCode> operatorCodes,
            List<TfLiteSubgraph> subgraphs,
            List<TfLiteBytes> buffers) {
        this.operatorCodes = operatorCodes;
        this.subgraphs = subgraphs;
        this.buffers = buffers;
    }

    void check(
            List<Integer> metadataBuffers,
            List<TfLiteFile.Metadata> metadata,
            List<TfLiteFile.Signature> signatures) {
        require(!subgraphs.isEmpty(), () -> "subgraphs", "a model needs one subgraph at least");
        require(!buffers.isEmpty(), () -> "buffers", "a model needs the empty buffer at least");
        for (int i = 0; i < operatorCodes.size(); i++) {
            int code = i;
            require(
                    operatorCodes.get(i).builtinCode() >= 0,
                    () -> "operator_codes[" + code + "].builtin_code",
                    "negative");
        }
        for (int i = 0; i < subgraphs.size(); i++) {
            String path = "subgraphs[" + i + "]";
            new SubgraphCheck(subgraphs.get(i), operatorCodes.size(), buffers, path).check();
        }
        checkCalls();
        for (int i = 0; i < metadataBuffers.size(); i++) {
            int at = i;
            requireIndex(metadataBuffers.get(i), buffers, () -> "metadata_buffer[" + at + "]");
        }
        for (int i = 0; i < metadata.size(); i++) {
            int at = i;
            requireIndex(metadata.get(i).buffer(), buffers, () -> "metadata[" + at + "].buffer");
        }
        for (int i = 0; i < signatures.size(); i++) {
            checkSignature(signatures.get(i), "signature_defs[" + i + "]");
        }
    }

    private void checkSignature(TfLiteFile.Signature signature, String path) {
        requireIndex(signature.subgraph(), subgraphs, () -> path + ".subgraph_index");
        List<TfLiteTensor> tensors = subgraphs.get(signature.subgraph()).tensors();
        checkEntries(signature.inputs(), tensors, path + ".inputs");
        checkEntries(signature.outputs(), tensors, path + ".outputs");
    }

    private static void checkEntries(
            List<TfLiteFile.Signature.Entry> entries, List<TfLiteTensor> tensors, String path) {
        for (int i = 0; i < entries.size(); i++) {
            int at = i;
            requireIndex(
                    entries.get(i).tensor(), tensors, () -> path + "[" + at + "].tensor_index");
        }
    }

    /** Called subgraphs must exist and must not call each other recursively. */
    private void checkCalls() {
        int[] callers = new int[subgraphs.size()];
        forEachCall((caller, called) -> callers[called]++);
        Deque<Integer> uncalled = new ArrayDeque<>();
        for (int i = 0; i < callers.length; i++) {
            if (callers[i] == 0) {
                uncalled.add(i);
            }
        }
        while (!uncalled.isEmpty()) {
            forEachCallOf(
                    uncalled.remove(),
                    (caller, called) -> {
                        if (--callers[called] == 0) {
                            uncalled.add(called);
                        }
                    });
        }
        for (int i = 0; i < callers.length; i++) {
            int at = i;
            require(callers[i] == 0, () -> "subgraphs[" + at + "]", "called in a circle");
        }
    }

    private void forEachCall(CallVisitor visitor) {
        for (int i = 0; i < subgraphs.size(); i++) {
            forEachCallOf(i, visitor);
        }
    }

    private void forEachCallOf(int caller, CallVisitor visitor) {
        List<TfLiteOperator> operators = subgraphs.get(caller).operators();
        for (int i = 0; i < operators.size(); i++) {
            for (Map.Entry<String, Long> each : operators.get(i).calls().entrySet()) {
                int at = i;
                requireIndex(
                        each.getValue(), subgraphs, () -> optionPath(caller, at) + each.getKey());
                visitor.visit(caller, Math.toIntExact(each.getValue()));
            }
        }
    }

    private static String optionPath(int subgraph, int operator) {
        return "subgraphs[" + subgraph + "].operators[" + operator + "].builtin_options.";
    }

    private interface CallVisitor {
        void visit(int caller, int called);
    }

    private static void requireIndex(long index, List<?> list, Supplier<String> path) {
        requireIndex(index, list.size(), path);
    }

    private static void requireIndex(long index, int size, Supplier<String> path) {
        if (index < 0 || index >= size) {
            throw new InvalidModelException(path.get(), "no entry " + index + " among " + size);
        }
    }

    private static void require(boolean condition, Supplier<String> path, String problem) {
        if (!condition) {
            throw new InvalidModelException(path.get(), problem);
        }
    }

    /**
     * Checks one subgraph: sizes, indices, and that the operators are in an executable order. It
     * also rejects models that TensorFlow Lite would reject when it loads them, and names the path
     * of the error.
     */
    private static final class SubgraphCheck {

        /** More than any machine has; prevents overflow of sums. */
        private static final long LARGEST_SUM_BYTES = 1L << 40;

        private final TfLiteSubgraph subgraph;
        private final int operatorCodes;
        private final List<TfLiteBytes> buffers;
        private final String path;

        /** Tensors with content: constants, inputs, and outputs of the operators so far. */
        private final BitSet filled = new BitSet();

        /** Tensors that may be read at any time and written any number of times. */
        private final BitSet variables = new BitSet();

        /** Tensors without elements, which need not be written before they are read. */
        private final BitSet empty = new BitSet();

        SubgraphCheck(
                TfLiteSubgraph subgraph,
                int operatorCodes,
                List<TfLiteBytes> buffers,
                String path) {
            this.subgraph = subgraph;
            this.operatorCodes = operatorCodes;
            this.buffers = buffers;
            this.path = path;
        }

        void check() {
            checkTensors();
            checkList(subgraph.inputs(), path + ".inputs", false);
            checkList(subgraph.outputs(), path + ".outputs", false);
            subgraph.inputs().forEach(filled::set);
            List<TfLiteOperator> operators = subgraph.operators();
            for (int i = 0; i < operators.size(); i++) {
                checkOperator(operators.get(i), path + ".operators[" + i + "]");
            }
            for (int i = 0; i < subgraph.outputs().size(); i++) {
                int at = i;
                require(
                        isReadable(subgraph.outputs().get(i)),
                        () -> path + ".outputs[" + at + "]",
                        "no operator writes this tensor");
            }
        }

        private void checkTensors() {
            long sumBytes = 0;
            for (int i = 0; i < subgraph.tensors().size(); i++) {
                TfLiteTensor tensor = subgraph.tensors().get(i);
                String at = path + ".tensors[" + i + "]";
                for (int j = 0; j < tensor.shape().size(); j++) {
                    int dimension = j;
                    require(
                            tensor.shape().get(j) >= -1,
                            () -> at + ".shape[" + dimension + "]",
                            "a dimension of " + tensor.shape().get(j));
                }
                requireIndex(tensor.buffer(), buffers, () -> at + ".buffer");
                checkSparsity(tensor, at);
                long bytes = sizeBytes(tensor, at);
                boolean constant = TfLiteFile.isConstant(buffers, tensor);
                if (constant) {
                    checkConstant(tensor, bytes, at);
                } else {
                    sumBytes += bytes;
                    require(sumBytes <= LARGEST_SUM_BYTES, () -> at + ".shape", tooLarge());
                }
                filled.set(i, constant);
                variables.set(i, tensor.isVariable());
                empty.set(i, tensor.hasFixedSize() && bytes == 0);
            }
        }

        private static long sizeBytes(TfLiteTensor tensor, String at) {
            long bytes;
            try {
                bytes = tensor.sizeBytes();
            } catch (ArithmeticException e) {
                bytes = Long.MAX_VALUE;
            }
            long size = bytes;
            require(size <= LARGEST_SUM_BYTES, () -> at + ".shape", tooLarge());
            return size;
        }

        private static String tooLarge() {
            return "with this tensor the subgraph needs more than " + LARGEST_SUM_BYTES + " bytes";
        }

        /** The engine ignores how a tensor without a buffer is stored. */
        private void checkSparsity(TfLiteTensor tensor, String at) {
            if (tensor.sparsity().isPresent() && tensor.buffer() != 0) {
                SparsityCheck.check(
                        tensor,
                        tensor.sparsity().get(),
                        buffers.get(tensor.buffer()).sizeBytes(),
                        at);
            }
        }

        private void checkConstant(TfLiteTensor tensor, long bytes, String at) {
            require(!tensor.isVariable(), () -> at + ".is_variable", "a constant is no variable");
            if (tensor.elementType() == ElementType.STRING) {
                StringsCheck.check(tensor.shape(), buffers.get(tensor.buffer()), at + ".buffer");
            }
            int stored = buffers.get(tensor.buffer()).sizeBytes();
            require(
                    tensor.sparsity().isPresent() || stored >= bytes,
                    () -> at + ".buffer",
                    "holds " + stored + " bytes, the shape needs " + bytes);
        }

        private void checkList(List<Integer> tensors, String at, boolean absentAllowed) {
            for (int i = 0; i < tensors.size(); i++) {
                if (!absentAllowed || tensors.get(i) != TfLiteOperator.ABSENT) {
                    int position = i;
                    requireIndex(
                            tensors.get(i), subgraph.tensors(), () -> at + "[" + position + "]");
                }
            }
        }

        private void checkOperator(TfLiteOperator operator, String at) {
            requireIndex(operator.opcodeIndex(), operatorCodes, () -> at + ".opcode_index");
            checkList(operator.inputs(), at + ".inputs", true);
            checkList(operator.outputs(), at + ".outputs", true);
            checkList(operator.intermediates(), at + ".intermediates", true);
            for (int i = 0; i < operator.inputs().size(); i++) {
                int tensor = operator.inputs().get(i);
                int position = i;
                if (tensor != TfLiteOperator.ABSENT && operator.mutates(i)) {
                    variables.set(tensor);
                }
                require(
                        tensor == TfLiteOperator.ABSENT || isReadable(tensor),
                        () -> at + ".inputs[" + position + "]",
                        "tensor " + tensor + " is read before an operator writes it");
            }
            for (int i = 0; i < operator.outputs().size(); i++) {
                int tensor = operator.outputs().get(i);
                int position = i;
                if (tensor != TfLiteOperator.ABSENT && !variables.get(tensor)) {
                    require(
                            !filled.get(tensor),
                            () -> at + ".outputs[" + position + "]",
                            "tensor " + tensor + " has its content already");
                    filled.set(tensor);
                }
            }
        }

        private boolean isReadable(int tensor) {
            return filled.get(tensor) || variables.get(tensor) || empty.get(tensor);
        }
    }
}
