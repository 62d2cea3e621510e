package org.djlplan.delegation.internal.partition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.domains.Domain;
import net.jqwik.api.domains.DomainContext;
import org.djlplan.delegation.internal.partition.DelegableGraphs.Delegable;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.testing.GraphSketch;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.Test;

@Domain(DelegableGraphs.class)
@Domain(DomainContext.Global.class)
class DataflowTest {

    /**
     * The operators that run on the CPU in the YOLOv4-tiny with 152 nodes of tensorflow/tensorflow
     * issue 66677 (also google-ai-edge/LiteRT issue 66).
     */
    private static final Set<Integer> YOLO_ON_CPU =
            Set.of(
                    8, 20, 32, 55, 57, 60, 63, 67, 69, 70, 73, 75, 76, 81, 86, 91, 95, 97, 98, 103,
                    105, 108, 111, 117, 122, 127, 132, 134, 135, 138, 140, 141, 144, 146, 147);

    /** Its last four partitions as published there; the first three lie between 8, 20 and 32. */
    private static final List<Set<Integer>> YOLO_LAST =
            List.of(
                    Set.of(
                            33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50,
                            51, 52, 53, 54, 102),
                    Set.of(
                            56, 59, 62, 66, 72, 78, 79, 80, 83, 84, 85, 88, 89, 90, 94, 104, 107,
                            110, 114, 115, 116, 119, 120, 121, 124, 125, 126, 131, 137, 143),
                    Set.of(
                            58, 61, 64, 65, 68, 74, 82, 87, 92, 93, 96, 106, 109, 112, 113, 118,
                            123, 128, 129, 130, 133, 139, 145),
                    Set.of(71, 77, 99, 100, 101, 136, 142, 148, 149, 150, 151));

    private static final List<Integer> SHAPE = List.of(1, 4, 4, 1);

    private static BitSet bits(int... operators) {
        BitSet bits = new BitSet();
        IntStream.of(operators).forEach(bits::set);
        return bits;
    }

    private static List<Set<Integer>> yoloPartitions() {
        List<Set<Integer>> partitions = new ArrayList<>();
        int first = 0;
        for (int last : new int[] {8, 20, 32}) {
            partitions.add(Set.copyOf(IntStream.range(first, last).boxed().toList()));
            first = last + 1;
        }
        partitions.addAll(YOLO_LAST);
        return partitions;
    }

    /**
     * Returns a graph of 152 operators that has these partitions. The dependencies are not
     * published: here an operator reads the output of the operator before it in its partition, or,
     * on the CPU, of the previous operator on the CPU.
     */
    private static Graph yolo() {
        GraphSketch sketch = new GraphSketch();
        List<Set<Integer>> partitions = yoloPartitions();
        int[] lastOf = new int[partitions.size()];
        int before = sketch.input(1, 4, 4, 1);
        for (int operator = 0; operator < 152; operator++) {
            int index = operator;
            int partition =
                    IntStream.range(0, partitions.size())
                            .filter(i -> partitions.get(i).contains(index))
                            .findFirst()
                            .orElse(-1);
            boolean cpu = YOLO_ON_CPU.contains(operator);
            assertEquals(cpu, partition < 0);
            int read = cpu || lastOf[partition] == 0 ? before : lastOf[partition];
            int made = sketch.operator(cpu ? "SPLIT" : "CONV_2D", SHAPE, read);
            if (!cpu) {
                lastOf[partition] = made;
            }
            // From 58 on the branches lie side by side: each partition continues on its own.
            before = cpu || operator <= 58 ? made : before;
        }
        return sketch.output(before).build();
    }

    @Test
    void kernels_ofPublishedYolov4Tiny_areItsSevenPartitions() {
        BitSet delegated = new BitSet();
        IntStream.range(0, 152).filter(i -> !YOLO_ON_CPU.contains(i)).forEach(delegated::set);
        List<BitSet> kernels = Dataflow.of(yolo()).kernels(delegated);
        assertEquals(
                yoloPartitions(),
                kernels.stream()
                        .map(kernel -> kernel.stream().boxed().collect(Collectors.toSet()))
                        .toList());
    }

    @Test
    void kernels_ofBranchesThatDoNotMeet_areOne() {
        GraphSketch sketch = new GraphSketch();
        int input = sketch.input(1, 4, 4, 1);
        int left = sketch.operator("CONV_2D", SHAPE, input);
        int right = sketch.operator("CONV_2D", SHAPE, input);
        int sum = sketch.operator("CUSTOM:sum", SHAPE, left, right);
        Dataflow flow = Dataflow.of(sketch.output(sum).build());
        assertEquals(List.of(bits(0, 1)), flow.kernels(bits(0, 1)));
    }

    @Test
    void kernels_ofUnpackingOnly_areKernelsToo() {
        GraphSketch sketch = new GraphSketch();
        int filter = sketch.halfWeights(1, 1, 1, 1);
        int custom = sketch.operator("CUSTOM:x", SHAPE, sketch.input(1, 4, 4, 1));
        int conv = sketch.operator("CONV_2D", SHAPE, custom, filter);
        Graph graph = sketch.output(conv).build();
        assertEquals(List.of(bits(0), bits(2)), Dataflow.of(graph).kernels(bits(0, 2)));
    }

    private static List<Set<Integer>> chain(Set<Integer> excluded) {
        GraphSketch sketch = new GraphSketch();
        int x = sketch.input(1, 8, 8, 4);
        for (int i = 0; i < 6; i++) {
            x = sketch.operator("ABS", List.of(1, 8, 8, 4), x);
        }
        return Dataflow.partitionsWithout(
                sketch.output(x).build(), List.of(Set.of(0, 1, 2, 3), Set.of(5)), excluded);
    }

    @Test
    void partitionsWithout_operatorInTheMiddle_twoPartitionsOfOne() {
        assertEquals(List.of(Set.of(0, 1), Set.of(3), Set.of(5)), chain(Set.of(2)));
        assertEquals(List.of(Set.of(1, 2, 3), Set.of(5)), chain(Set.of(0)));
        assertEquals(List.of(Set.of(0, 1, 2, 3), Set.of(5)), chain(Set.of(4)), "not offered");
        assertEquals(List.of(Set.of(0, 1, 2, 3)), chain(Set.of(5)));
        assertEquals(List.of(), chain(Set.of(0, 1, 2, 3, 5)));
    }

    /** Two convolutions share their 16-bit weights; a third one has its own. */
    @Test
    void partitionsWithout_readerOfAConstant_constantStaysWithIt() {
        GraphSketch sketch = new GraphSketch();
        List<Integer> shape = List.of(1, 8, 8, 4);
        int x = sketch.input(1, 8, 8, 4);
        int shared = sketch.halfWeights(4, 1, 1, 4);
        int own = sketch.halfWeights(4, 1, 1, 4);
        x = sketch.operator("CONV_2D", shape, x, shared);
        x = sketch.operator("CONV_2D", shape, x, own);
        x = sketch.operator("CONV_2D", shape, x, shared);
        Graph graph = sketch.output(x).build();
        List<Set<Integer>> all = List.of(Set.of(0, 1, 2, 3, 4));
        assertEquals(List.of(Set.of(1, 2, 3)), Dataflow.partitionsWithout(graph, all, Set.of(4)));
        assertEquals(
                List.of(Set.of(0, 2), Set.of(4)),
                Dataflow.partitionsWithout(graph, all, Set.of(3)));
        assertEquals(
                List.of(Set.of(1, 2, 3, 4)),
                Dataflow.partitionsWithout(graph, all, Set.of(0)),
                "unpacked by the CPU kernels");
    }

    @Property(tries = 300)
    void partitionsWithout_anyOperators_equalsTheEnginesPartitions(
            @ForAll Delegable model, @ForAll Random random) {
        Graph graph = model.graph();
        Set<Integer> excluded = new HashSet<>();
        for (Operator operator : graph.operators()) {
            if (random.nextInt(6) == 0) {
                excluded.add(operator.index());
            }
        }
        excluded.add(random.nextInt(graph.operators().size()));
        BitSet left = new BitSet();
        model.all().stream().filter(i -> !excluded.contains(i)).forEach(left::set);
        List<Set<Integer>> given = ImmutableList.copyOf(model.partitions());
        List<Set<Integer>> reduced = Dataflow.partitionsWithout(graph, given, excluded);

        BitSet taken = new BitSet();
        reduced.forEach(partition -> partition.forEach(taken::set));
        for (Operator operator : graph.operators()) {
            boolean constant = operator.type().equals("DEQUANTIZE");
            boolean wanted =
                    left.get(operator.index())
                            && (!constant
                                    || graph.operators().stream()
                                            .filter(o -> o.inputs().containsAll(operator.outputs()))
                                            .allMatch(o -> taken.get(o.index())));
            assertEquals(wanted, taken.get(operator.index()), operator::toString);
        }
        assertFalse(Dataflow.splitsConstants(graph, new HashSet<>(flat(reduced))));
        assertEquals(
                new HashSet<>(DelegableGraphs.partitions(graph, taken)), new HashSet<>(reduced));
        assertEquals(given, Dataflow.partitionsWithout(graph, given, Set.of()));
    }

    private static List<Integer> flat(List<Set<Integer>> sets) {
        List<Integer> all = new ArrayList<>();
        sets.forEach(all::addAll);
        return all;
    }
}
