package org.djlplan.study.delegation;

import java.util.BitSet;
import java.util.List;
import java.util.SortedSet;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.djlplan.delegation.internal.partition.Dataflow;
import org.djlplan.delegation.internal.partition.Units;
import org.djlplan.delegation.internal.partition.Units.Unit;
import org.djlplan.memplan.graph.Graph;

/**
 * A partition with the features that may predict how much time delegating it saves.
 *
 * @param operators their indices in the graph, ascending, without constant operators
 * @param partition index among the partitions that the delegate reported
 * @param flops FLOPs of one inference, without operators of unknown shapes
 * @param weightBytes bytes of the constants that it reads, unpacked, each counted once
 * @param crossingBytes bytes of the tensors that enter it plus those that leave it, without
 *     constants
 */
public record Piece(
        SortedSet<Integer> operators,
        int partition,
        long flops,
        long weightBytes,
        long crossingBytes) {

    /** Returns the units of a graph with their features. */
    public static List<Piece> of(Graph graph, Units units) {
        Dataflow flow = Dataflow.of(graph);
        return units.all().stream().map(unit -> of(graph, flow, unit)).toList();
    }

    private static Piece of(Graph graph, Dataflow flow, Unit unit) {
        BitSet operators = new BitSet();
        unit.operators().forEach(operators::set);
        IntPredicate constant = flow::isConstantTensor;
        IntPredicate entering = id -> IntStream.of(flow.writers(id)).noneMatch(operators::get);
        IntPredicate leaving = id -> flow.isReadOutside(id, operators);
        IntStream reads = operators.stream().flatMap(each -> IntStream.of(flow.reads(each)));
        IntStream writes = operators.stream().flatMap(each -> IntStream.of(flow.writes(each)));
        int[] read = reads.distinct().toArray();
        int[] written = writes.distinct().toArray();
        return new Piece(
                unit.operators(),
                unit.partition(),
                operators.stream().mapToLong(i -> Flops.of(graph, graph.operators().get(i))).sum(),
                bytes(flow, read, constant),
                bytes(flow, read, entering.and(constant.negate()))
                        + bytes(flow, written, leaving.and(constant.negate())));
    }

    private static long bytes(Dataflow flow, int[] tensors, IntPredicate counted) {
        return IntStream.of(tensors).filter(counted).mapToLong(flow::bytes).sum();
    }
}
