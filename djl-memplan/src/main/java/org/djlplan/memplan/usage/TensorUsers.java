package org.djlplan.memplan.usage;

import com.google.common.collect.Iterables;
import java.util.ArrayList;
import java.util.List;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;

/** Which operators touch a tensor: read it, write it, or use it as scratch memory. */
final class TensorUsers {

    private TensorUsers() {}

    /** Returns the operators, ascending, by tensor id. */
    static List<List<Integer>> of(Graph graph) {
        List<List<Integer>> users = new ArrayList<>();
        graph.tensors().forEach(tensor -> users.add(new ArrayList<>()));
        for (Operator operator : graph.operators()) {
            for (int id :
                    Iterables.concat(
                            operator.inputs(), operator.outputs(), operator.temporaries())) {
                List<Integer> found = users.get(id);
                if (found.isEmpty() || Iterables.getLast(found) != operator.index()) {
                    found.add(operator.index());
                }
            }
        }
        return users;
    }
}
