package org.djlplan.delegation.choice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSortedSet;
import java.util.BitSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedSet;
import org.djlplan.delegation.choice.CostKey.Kind;
import org.djlplan.delegation.partition.Dataflow;
import org.djlplan.delegation.partition.DelegatedGraph;
import org.djlplan.delegation.partition.GraphSketch;
import org.djlplan.delegation.table.Goal;
import org.djlplan.delegation.table.Objective;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.spi.DelegationChoice;
import org.junit.jupiter.api.Test;

class PredictorTest {

    private static final Goal LATENCY = new Goal(Objective.LATENCY, OptionalLong.empty());
    private static final Goal MEMORY = new Goal(Objective.MEMORY, OptionalLong.empty());

    private static DelegationChoice predict(Graph graph, Goal goal) {
        return predict(graph, goal, LearntCosts.defaults());
    }

    private static DelegationChoice predict(Graph graph, Goal goal, LearntCosts costs) {
        return Predictor.predict(graph, Networks.partitions(graph), 2, goal, costs);
    }

    private static SortedSet<Integer> all(Graph graph) {
        return Networks.partitions(graph).stream()
                .flatMap(Set::stream)
                .collect(ImmutableSortedSet.toImmutableSortedSet(Integer::compare));
    }

    private static long bytes(Graph graph, SortedSet<Integer> operators) {
        BitSet delegated = new BitSet();
        operators.forEach(delegated::set);
        Dataflow flow = Dataflow.of(graph);
        return new PredictedMemory(flow).bytes(new DelegatedGraph(flow, delegated));
    }

    @Test
    void predict_convolutionsThatAreSupported_delegatesAll() {
        Graph graph = Networks.mobileNet(Set.of());
        DelegationChoice choice = predict(graph, LATENCY);
        assertEquals(all(graph), choice.candidate().operators());
        assertEquals(2, choice.candidate().threads());
        assertEquals(DelegationChoice.Origin.UNVERIFIED, choice.origin());
        assertTrue(
                choice.reason()
                        .matches(
                                "predicted [\\d.]+ ms instead of [\\d.]+ ms on the CPU kernels, in"
                                        + " 1 delegate kernel"),
                choice.reason());
    }

    @Test
    void predict_convolutionsWithOthersBetween_delegatesAllPartitions() {
        for (Set<Integer> unsupported : List.of(Set.of(3), Set.of(1, 5), Set.of(0, 2, 4, 6))) {
            Graph graph = Networks.mobileNet(unsupported);
            assertEquals(
                    all(graph),
                    predict(graph, LATENCY).candidate().operators(),
                    unsupported::toString);
        }
    }

    @Test
    void predict_onlySmallPartitions_delegatesNothing() {
        GraphSketch sketch = new GraphSketch();
        int tensor = sketch.input(1, 16, 16, 8);
        for (int i = 0; i < 10; i++) {
            int custom = sketch.operator("CUSTOM:x", List.of(1, 16, 16, 8), tensor);
            tensor = sketch.operator("ADD", List.of(1, 16, 16, 8), custom, tensor);
        }
        DelegationChoice choice = predict(sketch.output(tensor).build(), LATENCY);
        assertFalse(choice.candidate().delegates());
        assertEquals("no set of partitions is predicted to gain more than 5 %", choice.reason());
    }

    @Test
    void predict_smallPartitionsBesideALargeOne_delegatesTheLargeOne() {
        GraphSketch sketch = new GraphSketch();
        int tensor = sketch.input(1, 8, 8, 4);
        for (int i = 0; i < 4; i++) {
            int added = sketch.operator("ADD", List.of(1, 8, 8, 4), tensor, tensor);
            tensor = sketch.operator("CUSTOM:x", List.of(1, 8, 8, 4), added);
        }
        int large = sketch.operators();
        int result = sketch.conv(sketch.conv(tensor, 256, 5), 256, 3);
        Graph graph = sketch.output(result).build();
        assertEquals(Set.of(large, large + 1), predict(graph, LATENCY).candidate().operators());
    }

    @Test
    void predict_nothingSupported_saysSo() {
        Graph graph = Networks.mobileNet(Set.of());
        DelegationChoice choice =
                Predictor.predict(graph, List.of(), -1, LATENCY, LearntCosts.defaults());
        assertFalse(choice.candidate().delegates());
        assertEquals(-1, choice.candidate().threads());
        assertEquals("the delegate takes no operator of this model", choice.reason());
    }

    @Test
    void predict_whereTheDelegateTurnedOutSlow_delegatesNothing() {
        Graph graph = Networks.mobileNet(Set.of(3));
        LearntCosts slow =
                LearntCosts.of(
                        ImmutableMap.of(
                                new CostKey(Kind.CPU, "DEPTHWISE_CONV_2D", 2),
                                new Cost(2e6, 1e7),
                                new CostKey(Kind.DELEGATE, "DEPTHWISE_CONV_2D", 2),
                                new Cost(9e6, 1e7),
                                new CostKey(Kind.DELEGATE, "CONV_2D", 2),
                                new Cost(3e6, 1e7),
                                new CostKey(Kind.CPU, "CONV_2D", 2),
                                new Cost(.5e6, 1e7)));
        assertFalse(predict(graph, LATENCY, slow).candidate().delegates());
    }

    @Test
    void predict_whereOneTypeTurnedOutSlow_leavesItsPartitionToTheCpu() {
        GraphSketch sketch = new GraphSketch();
        int first = sketch.conv(sketch.input(1, 64, 64, 16), 16, 3);
        int custom = sketch.operator("CUSTOM:x", List.of(1, 64, 64, 16), first);
        int filter = sketch.weights(16, 2, 2, 16);
        int shape = sketch.weights(4);
        int last =
                sketch.operator("TRANSPOSE_CONV", List.of(1, 128, 128, 16), shape, filter, custom);
        Graph graph = sketch.output(last).build();
        assertEquals(Set.of(0, 2), predict(graph, LATENCY).candidate().operators());
        LearntCosts slow =
                LearntCosts.of(
                        ImmutableMap.of(
                                new CostKey(Kind.DELEGATE, "TRANSPOSE_CONV", 2),
                                new Cost(4e6, 1e7),
                                new CostKey(Kind.CPU, "TRANSPOSE_CONV", 2),
                                new Cost(2e6, 1e7)));
        assertEquals(Set.of(0), predict(graph, LATENCY, slow).candidate().operators());
    }

    @Test
    void predict_withLittleMemory_delegatesAsMuchAsFits() {
        Graph graph = Networks.mobileNet(Set.of());
        long cpu = bytes(graph, ImmutableSortedSet.of());
        long most = bytes(graph, all(graph));
        assertTrue(cpu < most, cpu + " " + most);
        long limit = (cpu + most) / 2;
        Goal goal = new Goal(Objective.LATENCY, OptionalLong.of(limit));
        SortedSet<Integer> chosen = predict(graph, goal).candidate().operators();
        assertFalse(chosen.isEmpty());
        assertTrue(chosen.size() < all(graph).size());
        assertTrue(bytes(graph, chosen) <= limit);
        assertEquals(
                all(graph),
                predict(graph, new Goal(Objective.LATENCY, OptionalLong.of(most)))
                        .candidate()
                        .operators());
        assertFalse(
                predict(graph, new Goal(Objective.LATENCY, OptionalLong.of(1)))
                        .candidate()
                        .delegates(),
                "nothing fits");
    }

    @Test
    void predict_leastMemory_takesNoMoreThanTheCpu() {
        for (Set<Integer> unsupported : List.of(Set.<Integer>of(), Set.of(3), Set.of(0, 2, 4, 6))) {
            Graph graph = Networks.mobileNet(unsupported);
            SortedSet<Integer> chosen = predict(graph, MEMORY).candidate().operators();
            assertTrue(bytes(graph, chosen) <= 1.02 * bytes(graph, ImmutableSortedSet.of()));
        }
    }

    @Test
    void predict_balanced_leavesWeightsToTheCpuThatAreNotWorthPacking() {
        GraphSketch sketch = new GraphSketch();
        int picture = sketch.conv(sketch.input(1, 64, 64, 16), 16, 3);
        int custom = sketch.operator("CUSTOM:x", List.of(1, 2048), picture);
        int scores =
                sketch.operator(
                        "FULLY_CONNECTED", List.of(1, 2048), custom, sketch.weights(2048, 2048));
        Graph graph = sketch.output(scores).build();
        assertEquals(Set.of(0, 2), predict(graph, LATENCY).candidate().operators());
        DelegationChoice choice =
                predict(graph, new Goal(Objective.BALANCED, OptionalLong.empty()));
        assertEquals(Set.of(0), choice.candidate().operators());
        assertTrue(choice.reason().contains(" MB instead of "), choice.reason());
    }
}
