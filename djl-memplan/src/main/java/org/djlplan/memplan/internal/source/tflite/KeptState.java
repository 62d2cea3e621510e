package org.djlplan.memplan.internal.source.tflite;

import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;

/**
 * Finds out whether a model keeps values from one prediction to the next: in variable tensors, or
 * in resource variables, which operators assign. The engine has both once for each interpreter.
 *
 * <p>Graphs that only {@code CALL_ONCE} calls do not count. They have no inputs, and each
 * interpreter runs them once, so what they write is the same in all interpreters. For the same
 * reason resource variables that are only read, and hash tables, which are filled from constants,
 * are no state. Variable tensors of branches count, although later releases of the engine set them
 * back with each call.
 */
final class KeptState {

    private static final String CALL_ONCE = "CALL_ONCE";
    private static final String ASSIGN = "ASSIGN_VARIABLE";

    private KeptState() {}

    /** Returns whether a model keeps state. */
    static boolean isIn(TfLiteFile file) {
        BitSet found = new BitSet();
        Deque<Integer> graphs = new ArrayDeque<>();
        found.set(0);
        graphs.add(0);
        while (!graphs.isEmpty()) {
            TfLiteSubgraph graph = file.subgraphs().get(graphs.remove());
            if (hasVariables(graph)) {
                return true;
            }
            for (TfLiteOperator operator : graph.operators()) {
                String type = file.codeOf(operator).name();
                if (type.equals(ASSIGN)) {
                    return true;
                }
                if (!type.equals(CALL_ONCE)) {
                    for (long called : operator.calls().values()) {
                        int index = Math.toIntExact(called);
                        if (!found.get(index)) {
                            found.set(index);
                            graphs.add(index);
                        }
                    }
                }
            }
        }
        return false;
    }

    private static boolean hasVariables(TfLiteSubgraph graph) {
        for (TfLiteTensor tensor : graph.tensors()) {
            if (tensor.isVariable()) {
                return true;
            }
        }
        return !TfLiteGraphs.mutatedInputs(graph).isEmpty();
    }
}
