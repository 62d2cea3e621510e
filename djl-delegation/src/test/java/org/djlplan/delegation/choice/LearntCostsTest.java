package org.djlplan.delegation.choice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.collect.ImmutableSortedSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import org.djlplan.delegation.choice.CostKey.Kind;
import org.djlplan.delegation.partition.Dataflow;
import org.djlplan.delegation.partition.GraphSketch;
import org.djlplan.delegation.partition.Work;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.spi.NodeTime;
import org.junit.jupiter.api.Test;

class LearntCostsTest {

    /** Nanoseconds per work of a machine on which everything is known. */
    private static double truth(Operator operator, boolean delegated) {
        boolean depthwise = operator.type().equals("DEPTHWISE_CONV_2D");
        return delegated ? depthwise ? .5 : .08 : depthwise ? 1.5 : .7;
    }

    /** What profiling a network shows on that machine, whole and in pieces. */
    private static List<NodeTime> profile(Graph graph, double scale) {
        List<NodeTime> nodes = new ArrayList<>();
        for (Operator operator : graph.operators()) {
            nodes.add(node(graph, false, scale, ImmutableSortedSet.of(operator.index())));
        }
        for (Set<Integer> partition : Networks.partitions(graph)) {
            nodes.add(node(graph, true, scale, ImmutableSortedSet.copyOf(partition)));
        }
        return nodes;
    }

    private static NodeTime node(
            Graph graph, boolean delegated, double scale, SortedSet<Integer> operators) {
        double nanos = delegated ? 30_000 : 0;
        for (int index : operators) {
            Operator operator = graph.operators().get(index);
            nanos += Work.of(graph, operator) * truth(operator, delegated);
        }
        return new NodeTime(operators, delegated, (long) (scale * nanos));
    }

    private static double predicted(
            LearntCosts costs, Graph graph, boolean delegated, int threads, String type) {
        Dataflow flow = Dataflow.of(graph);
        return graph.operators().stream()
                .filter(operator -> operator.type().equals(type))
                .mapToDouble(o -> costs.operatorNanos(flow, o.index(), delegated, threads))
                .sum();
    }

    private static double real(Graph graph, boolean delegated, String type) {
        return graph.operators().stream()
                .filter(operator -> operator.type().equals(type))
                .mapToDouble(o -> Work.of(graph, o) * truth(o, delegated))
                .sum();
    }

    @Test
    void learn_profiledOnTheCpu_predictsOtherModelsThere() {
        Graph seen = Networks.mobileNet(Set.of(1, 4, 6));
        Graph unseen = Networks.mobileNet(Set.of());
        LearntCosts costs = LearntCosts.defaults().learn(seen, profile(seen, 1), 1);
        for (String type : List.of("CONV_2D", "DEPTHWISE_CONV_2D")) {
            double real = real(unseen, false, type);
            assertEquals(real, predicted(costs, unseen, false, 1, type), .03 * real, type);
        }
    }

    @Test
    void learn_severalModels_tellsApartWhatDelegateKernelsAreMadeOf() {
        LearntCosts costs = LearntCosts.defaults();
        List<Set<Integer>> models =
                List.of(Set.of(0, 1, 2, 3, 4, 5, 6), Set.of(1, 4, 6), Set.of(0, 3), Set.of());
        Graph unseen = Networks.mobileNet(Set.of(2, 5));
        double before = predicted(costs, unseen, true, 1, "DEPTHWISE_CONV_2D");
        for (int i = 0; i < 5; i++) {
            for (Set<Integer> unsupported : models) {
                Graph seen = Networks.mobileNet(unsupported);
                costs = costs.learn(seen, profile(seen, 1), 1);
            }
        }
        double real = real(unseen, true, "DEPTHWISE_CONV_2D");
        double after = predicted(costs, unseen, true, 1, "DEPTHWISE_CONV_2D");
        assertTrue(before < real / 3, "the defaults do not know this machine");
        assertEquals(real, after, .35 * real);
        double whole = 0;
        double wholeReal = 0;
        Dataflow flow = Dataflow.of(unseen);
        for (Operator operator : unseen.operators()) {
            whole += costs.operatorNanos(flow, operator.index(), true, 1);
            wholeReal += Work.of(unseen, operator) * truth(operator, true);
        }
        assertEquals(wholeReal, whole, .1 * wholeReal);
    }

    @Test
    void learn_withOneNumberOfThreads_correctsOthersAlike() {
        Graph graph = Networks.mobileNet(Set.of());
        LearntCosts defaults = LearntCosts.defaults();
        LearntCosts costs = defaults.learn(graph, profile(graph, 1), 1);
        double corrected =
                predicted(costs, graph, false, 1, "CONV_2D")
                        / predicted(defaults, graph, false, 1, "CONV_2D");
        assertTrue(corrected > 2);
        assertEquals(
                corrected,
                predicted(costs, graph, false, 4, "CONV_2D")
                        / predicted(defaults, graph, false, 4, "CONV_2D"),
                .05 * corrected);
    }

    @Test
    void learn_onASlowMachine_expectsTypesItNeverSawToBeSlowToo() {
        GraphSketch sketch = new GraphSketch();
        int pooled =
                sketch.operator("MAX_POOL_2D", List.of(1, 32, 32, 64), sketch.input(1, 64, 64, 64));
        Graph unseen = sketch.output(pooled).build();
        Graph seen = Networks.mobileNet(Set.of());
        LearntCosts costs = LearntCosts.defaults().learn(seen, profile(seen, 10), 1);
        assertTrue(
                predicted(costs, unseen, false, 1, "MAX_POOL_2D")
                        > 5 * predicted(LearntCosts.defaults(), unseen, false, 1, "MAX_POOL_2D"));
    }

    @Test
    void learn_afterTheMachineChanged_forgetsWhatWasBefore() {
        Graph graph = Networks.mobileNet(Set.of());
        LearntCosts costs = LearntCosts.defaults();
        for (int i = 0; i < 20; i++) {
            costs = costs.learn(graph, profile(graph, 5), 1);
        }
        for (int i = 0; i < 20; i++) {
            costs = costs.learn(graph, profile(graph, 1), 1);
        }
        double real = real(graph, false, "CONV_2D");
        assertEquals(real, predicted(costs, graph, false, 1, "CONV_2D"), .25 * real);
    }

    @Test
    void learn_nodesThatUnpackConstants_learnsNothing() {
        GraphSketch sketch = new GraphSketch();
        int filter = sketch.halfWeights(8, 3, 3, 8);
        int made =
                sketch.operator("CONV_2D", List.of(1, 8, 8, 8), sketch.input(1, 8, 8, 8), filter);
        Graph graph = sketch.output(made).build();
        for (boolean delegated : new boolean[] {true, false}) {
            LearntCosts costs =
                    LearntCosts.defaults()
                            .learn(
                                    graph,
                                    List.of(
                                            new NodeTime(
                                                    ImmutableSortedSet.of(0), delegated, 1_000)),
                                    1);
            assertTrue(costs.costs().isEmpty());
        }
        assertEquals(0, LearntCosts.defaults().operatorNanos(Dataflow.of(graph), 0, false, 1));
    }

    @Test
    void learn_manyKindsOfOperators_staysBounded() {
        GraphSketch sketch = new GraphSketch();
        int tensor = sketch.input(1, 4, 4, 1);
        for (int i = 0; i < LearntCosts.MOST_COSTS + 50; i++) {
            tensor = sketch.operator("CUSTOM:" + "x".repeat(i % 80) + i, List.of(4), tensor);
        }
        Graph graph = sketch.output(tensor).build();
        LearntCosts costs = LearntCosts.defaults().learn(graph, profile(graph, 1), 1);
        assertEquals(LearntCosts.MOST_COSTS, costs.costs().size());
    }

    @Test
    void learn_ofNodesThatTookNoTime_keepsCostsAboveNothing() {
        Graph graph = Networks.mobileNet(Set.of());
        LearntCosts costs = LearntCosts.defaults();
        for (int i = 0; i < 50; i++) {
            costs = costs.learn(graph, profile(graph, 0), 1);
        }
        assertTrue(predicted(costs, graph, true, 1, "CONV_2D") > 0);
        assertTrue(costs.kernelNanos(1) > 0);
        assertTrue(costs.crossingNanosPerByte(1) > 0);
    }

    @Test
    void learn_operatorsTheGraphHasNot_throws() {
        Graph graph = Networks.mobileNet(Set.of());
        List<NodeTime> nodes = List.of(new NodeTime(ImmutableSortedSet.of(500), false, 5));
        assertThrows(
                IndexOutOfBoundsException.class,
                () -> LearntCosts.defaults().learn(graph, nodes, 1));
    }

    @Test
    void of_whatWasLearnt_isTheSame() {
        Graph graph = Networks.mobileNet(Set.of());
        LearntCosts costs = LearntCosts.defaults().learn(graph, profile(graph, 1), 2);
        LearntCosts again = LearntCosts.of(costs.costs());
        assertEquals(costs.costs(), again.costs());
        assertEquals(costs.kernelNanos(2), again.kernelNanos(2));
        assertSame(LearntCosts.defaults(), LearntCosts.defaults());
    }

    @Test
    void of_moreThanIsEverKept_throws() {
        Map<CostKey, Cost> costs = new TreeMap<>();
        for (int i = 0; i <= LearntCosts.MOST_COSTS; i++) {
            costs.put(new CostKey(Kind.CPU, "T" + i, 1), new Cost(1, 1));
        }
        assertThrows(IllegalArgumentException.class, () -> LearntCosts.of(costs));
    }
}
