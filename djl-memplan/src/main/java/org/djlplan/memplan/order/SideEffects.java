package org.djlplan.memplan.order;

import com.google.common.collect.ImmutableSet;
import java.util.List;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;

/**
 * The table of operators that may do more than compute their outputs from their inputs. They keep
 * their relative order, since the graph does not show what passes between them.
 */
final class SideEffects {

    private static final ImmutableSet<String> TYPES =
            ImmutableSet.of(
                    "CALL",
                    "CALL_ONCE",
                    Operator.DELEGATE,
                    "IF",
                    "WHILE",
                    "VAR_HANDLE",
                    "READ_VARIABLE",
                    "ASSIGN_VARIABLE",
                    "MULTINOMIAL");

    /** Custom operators, those newer than the schema, tables of keys, generators of numbers. */
    private static final ImmutableSet<String> PARTS =
            ImmutableSet.of("CUSTOM", "BUILTIN_", "HASHTABLE", "RANDOM", "RNG");

    private SideEffects() {}

    /**
     * Returns whether the operator keeps its place among those with side effects: by its type, for
     * want of outputs, or because it touches a variable or a tensor of resources, variants or
     * strings.
     */
    static boolean has(Graph graph, Operator operator) {
        return TYPES.contains(operator.type())
                || PARTS.stream().anyMatch(operator.type()::contains)
                || operator.outputs().isEmpty()
                || touchesState(graph, operator.inputs())
                || touchesState(graph, operator.outputs());
    }

    private static boolean touchesState(Graph graph, List<Integer> ids) {
        return ids.stream().map(graph.tensors()::get).anyMatch(SideEffects::isState);
    }

    private static boolean isState(Tensor tensor) {
        return tensor.storage() == Storage.VARIABLE || tensor.type() == ElementType.OPAQUE;
    }
}
