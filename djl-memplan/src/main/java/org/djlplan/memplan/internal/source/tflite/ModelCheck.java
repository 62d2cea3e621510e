package org.djlplan.memplan.internal.source.tflite;

import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.djlplan.memplan.graph.ElementType;

/** Checks that a model is consistent. Throws {@link InvalidModelException} only. */
final class ModelCheck {

    private static final TreePath SUBGRAPHS = root("subgraphs");

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
        require(!subgraphs.isEmpty(), SUBGRAPHS, "a model needs one subgraph at least");
        require(!buffers.isEmpty(), root("buffers"), "a model needs the empty buffer at least");
        for (int i = 0; i < operatorCodes.size(); i++) {
            TreePath path = root("operator_codes").element(i).field("builtin_code");
            require(operatorCodes.get(i).builtinCode() >= 0, path, "negative");
        }
        for (int i = 0; i < subgraphs.size(); i++) {
            TreePath path = SUBGRAPHS.element(i);
            new SubgraphCheck(subgraphs.get(i), operatorCodes.size(), buffers, path).check();
        }
        checkCalls();
        for (int i = 0; i < metadataBuffers.size(); i++) {
            requireIndex(metadataBuffers.get(i), buffers, root("metadata_buffer").element(i));
        }
        for (int i = 0; i < metadata.size(); i++) {
            TreePath path = root("metadata").element(i).field("buffer");
            requireIndex(metadata.get(i).buffer(), buffers, path);
        }
        for (int i = 0; i < signatures.size(); i++) {
            checkSignature(signatures.get(i), root("signature_defs").element(i));
        }
    }

    private static TreePath root(String field) {
        return TreePath.ROOT.field(field);
    }

    private void checkSignature(TfLiteFile.Signature signature, TreePath path) {
        requireIndex(signature.subgraph(), subgraphs, path.field("subgraph_index"));
        List<TfLiteTensor> tensors = subgraphs.get(signature.subgraph()).tensors();
        checkEntries(signature.inputs(), tensors, path.field("inputs"));
        checkEntries(signature.outputs(), tensors, path.field("outputs"));
    }

    private static void checkEntries(
            List<TfLiteFile.Signature.Entry> entries, List<TfLiteTensor> tensors, TreePath path) {
        for (int i = 0; i < entries.size(); i++) {
            requireIndex(entries.get(i).tensor(), tensors, path.element(i).field("tensor_index"));
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
            require(callers[i] == 0, SUBGRAPHS.element(i), "called in a circle");
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
            TreePath operator = SUBGRAPHS.element(caller).field("operators").element(i);
            for (Map.Entry<String, Long> each : operators.get(i).calls().entrySet()) {
                TreePath path = operator.field("builtin_options").field(each.getKey());
                requireIndex(each.getValue(), subgraphs, path);
                visitor.visit(caller, Math.toIntExact(each.getValue()));
            }
        }
    }

    private interface CallVisitor {
        void visit(int caller, int called);
    }

    private static void requireIndex(long index, List<?> list, TreePath path) {
        requireIndex(index, list.size(), path);
    }

    private static void requireIndex(long index, int size, TreePath path) {
        if (index < 0 || index >= size) {
            require(false, path, "no entry " + index + " among " + size);
        }
    }

    private static void require(boolean condition, TreePath path, String problem) {
        if (!condition) {
            throw new InvalidModelException(path.toString(), problem);
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
        private final TreePath path;

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
                TreePath path) {
            this.subgraph = subgraph;
            this.operatorCodes = operatorCodes;
            this.buffers = buffers;
            this.path = path;
        }

        void check() {
            checkTensors();
            checkList(subgraph.inputs(), path.field("inputs"), false);
            checkList(subgraph.outputs(), path.field("outputs"), false);
            subgraph.inputs().forEach(filled::set);
            List<TfLiteOperator> operators = subgraph.operators();
            for (int i = 0; i < operators.size(); i++) {
                checkOperator(operators.get(i), path.field("operators").element(i));
            }
            for (int i = 0; i < subgraph.outputs().size(); i++) {
                require(
                        isReadable(subgraph.outputs().get(i)),
                        path.field("outputs").element(i),
                        "no operator writes this tensor");
            }
        }

        private void checkTensors() {
            long sumBytes = 0;
            for (int i = 0; i < subgraph.tensors().size(); i++) {
                TfLiteTensor tensor = subgraph.tensors().get(i);
                TreePath at = path.field("tensors").element(i);
                for (int j = 0; j < tensor.shape().size(); j++) {
                    require(
                            tensor.shape().get(j) >= -1,
                            at.field("shape").element(j),
                            "a dimension of " + tensor.shape().get(j));
                }
                requireIndex(tensor.buffer(), buffers, at.field("buffer"));
                checkSparsity(tensor, at);
                long bytes = sizeBytes(tensor, at);
                boolean constant = TfLiteFile.isConstant(buffers, tensor);
                if (constant) {
                    checkConstant(tensor, bytes, at);
                } else {
                    sumBytes += bytes;
                    requireAffordable(sumBytes, at);
                }
                filled.set(i, constant);
                variables.set(i, tensor.isVariable());
                empty.set(i, tensor.hasFixedSize() && bytes == 0);
            }
        }

        private static long sizeBytes(TfLiteTensor tensor, TreePath at) {
            long bytes;
            try {
                bytes = tensor.sizeBytes();
            } catch (ArithmeticException e) {
                bytes = Long.MAX_VALUE;
            }
            requireAffordable(bytes, at);
            return bytes;
        }

        private static void requireAffordable(long bytes, TreePath tensor) {
            require(
                    bytes <= LARGEST_SUM_BYTES,
                    tensor.field("shape"),
                    "with this tensor the subgraph needs more than "
                            + LARGEST_SUM_BYTES
                            + " bytes");
        }

        /** The engine ignores how a tensor without a buffer is stored. */
        private void checkSparsity(TfLiteTensor tensor, TreePath at) {
            if (tensor.sparsity().isPresent() && tensor.buffer() != 0) {
                SparsityCheck.check(
                        tensor,
                        tensor.sparsity().get(),
                        buffers.get(tensor.buffer()).sizeBytes(),
                        at.toString());
            }
        }

        private void checkConstant(TfLiteTensor tensor, long bytes, TreePath at) {
            require(!tensor.isVariable(), at.field("is_variable"), "a constant is no variable");
            TfLiteBytes content = buffers.get(tensor.buffer());
            if (tensor.elementType() == ElementType.STRING) {
                StringsCheck.check(tensor.shape(), content, at + ".buffer");
            }
            require(
                    tensor.sparsity().isPresent() || content.sizeBytes() >= bytes,
                    at.field("buffer"),
                    "holds " + content.sizeBytes() + " bytes, the shape needs " + bytes);
        }

        private void checkList(List<Integer> tensors, TreePath at, boolean absentAllowed) {
            for (int i = 0; i < tensors.size(); i++) {
                if (!absentAllowed || tensors.get(i) != TfLiteOperator.ABSENT) {
                    requireIndex(tensors.get(i), subgraph.tensors(), at.element(i));
                }
            }
        }

        private void checkOperator(TfLiteOperator operator, TreePath at) {
            requireIndex(operator.opcodeIndex(), operatorCodes, at.field("opcode_index"));
            checkList(operator.inputs(), at.field("inputs"), true);
            checkList(operator.outputs(), at.field("outputs"), true);
            checkList(operator.intermediates(), at.field("intermediates"), true);
            for (int i = 0; i < operator.inputs().size(); i++) {
                int tensor = operator.inputs().get(i);
                if (tensor != TfLiteOperator.ABSENT && operator.mutates(i)) {
                    variables.set(tensor);
                }
                require(
                        tensor == TfLiteOperator.ABSENT || isReadable(tensor),
                        at.field("inputs").element(i),
                        "tensor " + tensor + " is read before an operator writes it");
            }
            for (int i = 0; i < operator.outputs().size(); i++) {
                int tensor = operator.outputs().get(i);
                if (tensor != TfLiteOperator.ABSENT && !variables.get(tensor)) {
                    require(
                            !filled.get(tensor),
                            at.field("outputs").element(i),
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
