package org.djlplan.memplan.order;

import com.google.common.collect.ArrayListMultimap;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ListMultimap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;

/**
 * Checks that an order of operators computes what the graph's own order computes. It replays both:
 * every tensor must see the same writers in the same order, with the same readers between them, and
 * operators with side effects must come in the same order. Shares no code with the search but the
 * table of side effects.
 */
public final class OrderValidator {

    private OrderValidator() {}

    /**
     * Returns what is wrong with an order, nothing if all is well.
     *
     * @param order indices of the operators in the order to execute
     */
    public static ImmutableList<String> problems(Graph graph, List<Integer> order) {
        int count = graph.operators().size();
        if (order.size() != count) {
            return ImmutableList.of(order.size() + " operators in place of " + count);
        }
        boolean[] seen = new boolean[count];
        for (int operator : order) {
            if (operator < 0 || operator >= count || seen[operator]) {
                return ImmutableList.of("operator " + operator + " twice or unknown");
            }
            seen[operator] = true;
        }
        ImmutableList.Builder<String> problems = ImmutableList.builder();
        ListMultimap<Integer, String> wanted =
                histories(graph, graph.operators().stream().map(Operator::index).toList());
        ListMultimap<Integer, String> found = histories(graph, order);
        for (int tensor = 0; tensor < graph.tensors().size(); tensor++) {
            if (!wanted.get(tensor).equals(found.get(tensor))) {
                problems.add("tensor " + tensor + " is written and read in another order");
            }
        }
        if (!effects(graph, order).equals(effects(graph, sorted(order)))) {
            problems.add("operators with side effects are in another order");
        }
        return problems.build();
    }

    private static List<Integer> sorted(List<Integer> order) {
        return order.stream().sorted().toList();
    }

    private static List<Integer> effects(Graph graph, List<Integer> order) {
        return order.stream()
                .filter(i -> SideEffects.has(graph, graph.operators().get(i)))
                .toList();
    }

    /** Returns what happens to each tensor; readers between two writers are sorted. */
    private static ListMultimap<Integer, String> histories(Graph graph, List<Integer> order) {
        int count = graph.tensors().size();
        ListMultimap<Integer, String> histories = ArrayListMultimap.create();
        List<List<Integer>> readers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            readers.add(new ArrayList<>());
        }
        for (int index : order) {
            Operator operator = graph.operators().get(index);
            for (int id : operator.inputs()) {
                readers.get(id).add(index);
            }
            for (List<Integer> written :
                    Arrays.asList(operator.outputs(), operator.temporaries())) {
                for (int id : written) {
                    histories.put(id, "read by " + sorted(readers.get(id)));
                    histories.put(id, "written by " + index);
                    readers.get(id).clear();
                }
            }
        }
        for (int id = 0; id < count; id++) {
            histories.put(id, "read by " + sorted(readers.get(id)));
        }
        return histories;
    }
}
