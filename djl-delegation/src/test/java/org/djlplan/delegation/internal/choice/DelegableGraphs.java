package org.djlplan.delegation.internal.choice;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Provide;
import net.jqwik.api.domains.DomainContextBase;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.testing.GraphSketch;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;

/**
 * Random graphs of convolutions with branches, 16-bit weights, and operators that no delegate
 * supports.
 */
public final class DelegableGraphs extends DomainContextBase {

    /**
     * A graph and the partitions that a delegate reports for it.
     *
     * @param graph the graph
     * @param partitions the partitions, as the engine forms them from all operators that the
     *     delegate supports
     */
    public record Delegable(Graph graph, List<SortedSet<Integer>> partitions) {

        /** Returns all operators that the delegate reports. */
        public SortedSet<Integer> all() {
            return partitions.stream()
                    .flatMap(Set::stream)
                    .collect(ImmutableSortedSet.toImmutableSortedSet(Integer::compare));
        }
    }

    @Provide
    Arbitrary<Delegable> delegable() {
        return Arbitraries.randomValue(DelegableGraphs::draw);
    }

    /** Draws a graph of up to 40 operators, besides those that unpack weights. */
    public static Delegable draw(Random random) {
        GraphSketch sketch = new GraphSketch();
        List<Integer> made = new ArrayList<>(List.of(sketch.input(1, 32, 32, 4)));
        List<Integer> filters = new ArrayList<>(List.of(sketch.weights(4, 3, 3, 4)));
        BitSet supported = new BitSet();
        int count = 1 + random.nextInt(40);
        for (int i = 0; i < count; i++) {
            if (random.nextInt(3) == 0) {
                filters.add(sketch.halfWeights(4, 3, 3, 4));
            }
            boolean delegable = random.nextInt(5) > 0;
            int first = made.get(made.size() - 1 - random.nextInt(Math.min(made.size(), 4)));
            int second = made.get(made.size() - 1 - random.nextInt(Math.min(made.size(), 8)));
            int filter =
                    filters.get(filters.size() - 1 - random.nextInt(Math.min(filters.size(), 3)));
            List<Integer> shape = List.of(1, 32, 32, 4 << random.nextInt(3));
            supported.set(sketch.operators(), delegable);
            String type = delegable ? "CONV_2D" : "SPLIT_V";
            made.add(
                    random.nextBoolean()
                            ? sketch.operator(type, shape, first, filter)
                            : sketch.operator(type, shape, first, filter, second));
        }
        sketch.output(made.get(made.size() - 1));
        Graph graph = sketch.build();
        for (Operator operator : graph.operators()) {
            if (operator.type().equals("DEQUANTIZE")) {
                int output = operator.outputs().get(0);
                List<Operator> readers =
                        graph.operators().stream()
                                .filter(each -> each.inputs().contains(output))
                                .toList();
                supported.set(
                        operator.index(),
                        !readers.isEmpty()
                                && readers.stream().allMatch(r -> supported.get(r.index())));
            }
        }
        return new Delegable(graph, partitions(graph, supported));
    }

    /**
     * Returns the partitions that TensorFlow Lite forms from the operators that a delegate takes.
     * Like its own loop, it repeatedly gathers every ready operator until an epoch is full.
     */
    public static List<SortedSet<Integer>> partitions(Graph graph, BitSet taken) {
        TreeMap<Integer, SortedSet<Integer>> epochs = new TreeMap<>();
        BitSet missing = new BitSet();
        graph.operators().forEach(operator -> operator.outputs().forEach(missing::set));
        BitSet done = new BitSet();
        for (int epoch = 0; done.cardinality() < graph.operators().size(); epoch++) {
            SortedSet<Integer> members = new TreeSet<>();
            boolean grown = true;
            while (grown) {
                grown = false;
                for (Operator operator : graph.operators()) {
                    int index = operator.index();
                    if (!done.get(index)
                            && operator.inputs().stream().noneMatch(missing::get)
                            && (members.isEmpty()
                                    || taken.get(members.first()) == taken.get(index))) {
                        members.add(index);
                        done.set(index);
                        operator.outputs().forEach(missing::clear);
                        grown = true;
                    }
                }
            }
            epochs.put(epoch, members);
        }
        return epochs.values().stream().filter(members -> taken.get(members.first())).toList();
    }
}
