package org.djlplan.delegation.internal.partition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.domains.Domain;
import net.jqwik.api.domains.DomainContext;
import org.djlplan.delegation.internal.partition.DelegableGraphs.Delegable;
import org.djlplan.delegation.internal.partition.PieceGraph.Piece;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.thirdparty.guava.collect.Sets;

/** Checks properties of the pieces of random graphs. */
@Domain(DelegableGraphs.class)
@Domain(DomainContext.Global.class)
class PieceGraphPropertyTest {

    @Property(tries = 300)
    void units_ofAnyGraph_areDisjointAndCoverAllThatRuns(
            @ForAll Delegable model, @ForAll @IntRange(max = 20) int maxPieces) {
        SortedSet<Integer> covered = new TreeSet<>();
        for (Piece piece : PieceGraph.of(model.graph(), model.partitions(), maxPieces).pieces()) {
            for (int operator : piece.operators()) {
                assertTrue(covered.add(operator), () -> operator + " is in two pieces");
                assertTrue(model.partitions().get(piece.partition()).contains(operator));
            }
        }
        assertEquals(Sets.filter(model.all(), i -> !isUnpacking(model.graph(), i)), covered);
    }

    @Property(tries = 300)
    void units_ofAnyGraph_areConvex(
            @ForAll Delegable model, @ForAll @IntRange(max = 20) int maxPieces) {
        for (Piece piece : PieceGraph.of(model.graph(), model.partitions(), maxPieces).pieces()) {
            assertConvex(model.graph(), piece.operators());
        }
    }

    @Property(tries = 300)
    void units_ofAnyGraph_areAtMostAsManyAsAskedUnlessThereAreMorePartitions(
            @ForAll Delegable model, @ForAll @IntRange(max = 20) int maxPieces) {
        Graph graph = model.graph();
        long partitions =
                model.partitions().stream()
                        .filter(set -> !set.stream().allMatch(i -> isUnpacking(graph, i)))
                        .count();
        int pieces = PieceGraph.of(graph, model.partitions(), maxPieces).pieces().size();
        assertTrue(pieces >= partitions);
        assertTrue(pieces <= Math.max(partitions, maxPieces));
    }

    @Property(tries = 300)
    void operators_ofAllUnits_areAllThatIsDelegable(
            @ForAll Delegable model, @ForAll @IntRange(max = 20) int maxPieces) {
        PieceGraph pieces = PieceGraph.of(model.graph(), model.partitions(), maxPieces);
        Set<Integer> all = new HashSet<>();
        for (int i = 0; i < pieces.pieces().size(); i++) {
            all.add(i);
        }
        assertEquals(model.all(), pieces.operators(all));
    }

    @Property(tries = 300)
    void operators_ofAnyUnion_haveExactlyTheUnpackingThatOnlyTheyRead(
            @ForAll Delegable model, @ForAll Random random) {
        PieceGraph pieces = PieceGraph.of(model.graph(), model.partitions(), 12);
        Set<Integer> union = subset(pieces, random);
        Set<Integer> working = new HashSet<>();
        union.forEach(i -> working.addAll(pieces.pieces().get(i).operators()));
        SortedSet<Integer> operators = pieces.operators(union);
        assertEquals(working, Sets.filter(operators, i -> !isUnpacking(model.graph(), i)));
        for (int i : model.all()) {
            if (isUnpacking(model.graph(), i)) {
                int output = model.graph().operators().get(i).outputs().get(0);
                boolean onlyThey =
                        model.graph().operators().stream()
                                .filter(each -> each.inputs().contains(output))
                                .allMatch(each -> working.contains(each.index()));
                assertEquals(onlyThey, operators.contains(i), () -> "operator " + i);
            }
        }
    }

    @Property(tries = 300)
    void runs_ofAnyUnion_areTheEnginesPartitionsThatRun(
            @ForAll Delegable model, @ForAll Random random) {
        Graph graph = model.graph();
        PieceGraph pieces = PieceGraph.of(graph, model.partitions(), 12);
        Set<Integer> union = subset(pieces, random);
        BitSet taken = bits(pieces.operators(union));
        List<SortedSet<Integer>> engines = DelegableGraphs.partitions(graph, taken);
        assertEquals(
                engines.stream()
                        .filter(set -> !set.stream().allMatch(i -> isUnpacking(graph, i)))
                        .count(),
                pieces.kernels(union));
        Dataflow flow = Dataflow.of(graph);
        assertEquals(
                engines.stream().map(PieceGraphPropertyTest::bits).toList(), flow.kernels(taken));
    }

    @Property(tries = 300)
    void crossingBytes_ofPiecesAndKernels_areThoseOfTheTensorsThatCross(
            @ForAll Delegable model, @ForAll @IntRange(max = 20) int maxPieces) {
        Graph graph = model.graph();
        PieceGraph pieces = PieceGraph.of(graph, model.partitions(), maxPieces);
        for (Piece piece : pieces.pieces()) {
            assertEquals(crossingBytes(graph, piece.operators()), piece.crossingBytes());
        }
        Dataflow flow = Dataflow.of(graph);
        for (BitSet kernel : flow.kernels(bits(model.all()))) {
            Set<Integer> operators = kernel.stream().boxed().collect(Collectors.toSet());
            assertEquals(crossingBytes(graph, operators), flow.crossingBytes(kernel));
        }
    }

    @Property(tries = 300)
    void crossingBytes_ofAnyOperators_areThoseOfTheTensorsThatCross(
            @ForAll Delegable model, @ForAll Random random) {
        Graph graph = model.graph();
        Set<Integer> operators =
                graph.operators().stream()
                        .map(Operator::index)
                        .filter(i -> random.nextBoolean())
                        .collect(Collectors.toSet());
        assertEquals(
                crossingBytes(graph, operators), Dataflow.of(graph).crossingBytes(bits(operators)));
    }

    /** Finds the writer and the readers of each tensor. */
    private static long crossingBytes(Graph graph, Set<Integer> operators) {
        long bytes = 0;
        for (Tensor tensor : graph.tensors()) {
            int id = tensor.id();
            boolean constant = tensor.storage() == Storage.CONSTANT;
            boolean writtenInside = false;
            boolean readInside = false;
            boolean readOutside = graph.outputs().contains(id);
            for (Operator operator : graph.operators()) {
                boolean inside = operators.contains(operator.index());
                boolean writes = operator.outputs().contains(id);
                boolean reads = operator.inputs().contains(id);
                constant |= writes && isUnpacking(graph, operator.index());
                writtenInside |= writes && inside;
                readInside |= reads && inside;
                readOutside |= reads && !inside;
            }
            boolean crosses = writtenInside ? readOutside : readInside;
            bytes += crosses && !constant ? tensor.bytes() : 0;
        }
        return bytes;
    }

    private static BitSet bits(Set<Integer> set) {
        BitSet bits = new BitSet();
        set.forEach(bits::set);
        return bits;
    }

    private static Set<Integer> subset(PieceGraph pieces, Random random) {
        Set<Integer> union = new HashSet<>();
        IntStream.range(0, pieces.pieces().size())
                .filter(i -> random.nextBoolean())
                .forEach(union::add);
        return union;
    }

    private static boolean isUnpacking(Graph graph, int operator) {
        return graph.operators().get(operator).type().equals("DEQUANTIZE");
    }

    /** Follows every path out of the set; no path may come back. */
    private static void assertConvex(Graph graph, Set<Integer> operators) {
        Set<Integer> left = new HashSet<>();
        for (Operator operator : graph.operators()) {
            boolean fromOutside = operator.inputs().stream().anyMatch(left::contains);
            boolean inside = operators.contains(operator.index());
            assertFalse(inside && fromOutside, () -> "a path comes back at " + operator);
            boolean fromInside =
                    graph.operators().stream()
                            .filter(each -> operators.contains(each.index()))
                            .flatMap(each -> each.outputs().stream())
                            .anyMatch(operator.inputs()::contains);
            if (!inside && (fromInside || fromOutside)) {
                left.addAll(operator.outputs());
            }
        }
    }
}
