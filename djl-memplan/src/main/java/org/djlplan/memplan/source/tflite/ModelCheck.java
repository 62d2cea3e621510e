package org.djlplan.memplan.source.tflite;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Checks that the parts of a model fit together. Throws {@link InvalidModelException} only. */
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
            List<TfLiteMetadata> metadata,
            List<TfLiteSignature> signatures) {
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

    private void checkSignature(TfLiteSignature signature, String path) {
        requireIndex(signature.subgraph(), subgraphs, () -> path + ".subgraph_index");
        List<TfLiteTensor> tensors = subgraphs.get(signature.subgraph()).tensors();
        checkEntries(signature.inputs(), tensors, path + ".inputs");
        checkEntries(signature.outputs(), tensors, path + ".outputs");
    }

    private static void checkEntries(
            List<TfLiteSignature.Entry> entries, List<TfLiteTensor> tensors, String path) {
        for (int i = 0; i < entries.size(); i++) {
            int at = i;
            requireIndex(
                    entries.get(i).tensor(), tensors, () -> path + "[" + at + "].tensor_index");
        }
    }

    /** Subgraphs that operators call must exist and must not call each other in a circle. */
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
            Map<String, Object> options =
                    operators.get(i).builtinOptions().map(FlatTable::fields).orElse(Map.of());
            for (Map.Entry<String, Object> option : options.entrySet()) {
                if (namesSubgraph(option.getKey())) {
                    long called = ((Number) option.getValue()).longValue();
                    int at = i;
                    requireIndex(
                            called,
                            subgraphs,
                            () ->
                                    "subgraphs["
                                            + caller
                                            + "].operators["
                                            + at
                                            + "].builtin_options."
                                            + option.getKey());
                    visitor.visit(caller, (int) called);
                }
            }
        }
    }

    private static boolean namesSubgraph(String option) {
        return option.endsWith("_subgraph_index") || option.equals("subgraph");
    }

    private interface CallVisitor {
        void visit(int caller, int called);
    }

    static void requireIndex(long index, List<?> list, Supplier<String> path) {
        requireIndex(index, list.size(), path);
    }

    static void requireIndex(long index, int size, Supplier<String> path) {
        if (index < 0 || index >= size) {
            throw new InvalidModelException(path.get(), "no entry " + index + " among " + size);
        }
    }

    static void require(boolean condition, Supplier<String> path, String problem) {
        if (!condition) {
            throw new InvalidModelException(path.get(), problem);
        }
    }
}
