package org.djlplan.memplan.order;

import com.google.common.collect.ImmutableList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.order.SegmentSearch.Effort;
import org.djlplan.memplan.order.SegmentSearch.Schedule;
import org.djlplan.memplan.usage.LowerBounds;
import org.djlplan.memplan.usage.UsageRecords;

/**
 * Searches for an execution order with a smaller maximum breadth.
 *
 * <p>The graph is divided at its cuts. The segments are taken up by the breadth they have in the
 * order of the graph, largest first; one that stays below what another one is proved to need keeps
 * its order. Each is searched by {@link ScheduleSearch}, by beam, then exactly until that has a
 * proof or its effort is spent. Deterministic; the effort is bounded by counts, to about a second.
 */
public final class OrderSearch {

    /** Words of sets that heuristic searches may look at, per graph. */
    private static final long BEAM_EFFORT = 100_000_000;

    /** The same for exact searches. */
    private static final long EXACT_EFFORT = 100_000_000;

    private OrderSearch() {}

    /**
     * Returns an order that keeps all dependencies and is no worse than the graph's own, which is
     * returned where none is better.
     *
     * @throws ArithmeticException if the sizes add up to more than a long holds
     */
    public static OperatorOrder of(Graph graph) {
        long beforeBytes = LowerBounds.offsetBytes(UsageRecords.of(graph));
        Nodes nodes = Nodes.of(graph);
        List<Schedule> segments =
                Segment.of(nodes).stream()
                        .map(Schedule::asItStands)
                        .sorted(Comparator.comparingLong(Schedule::peakBytes).reversed())
                        .toList();
        long provedBytes = segments.stream().mapToLong(OrderSearch::proved).max().orElse(0);
        SegmentSearch search = new SegmentSearch(new Effort(BEAM_EFFORT), new Effort(EXACT_EFFORT));
        TreeMap<Integer, Schedule> chosen = new TreeMap<>();
        for (Schedule segment : segments) {
            Schedule better = segment;
            if (segment.peakBytes() > provedBytes) {
                better = search.improve(segment, provedBytes);
                provedBytes = Math.max(provedBytes, proved(better));
            }
            chosen.put(segment.segment().first(), better);
        }
        List<Integer> order = operators(nodes, chosen.values());
        long afterBytes =
                LowerBounds.offsetBytes(UsageRecords.of(ReorderedGraphs.of(graph, order)));
        return afterBytes < beforeBytes
                ? new OperatorOrder(order, beforeBytes, afterBytes, afterBytes <= provedBytes)
                : new OperatorOrder(
                        IntStream.range(0, order.size()).boxed().toList(),
                        beforeBytes,
                        beforeBytes,
                        beforeBytes <= provedBytes);
    }

    /** An order need not keep to the parts into which a segment was divided. */
    private static long proved(Schedule schedule) {
        return schedule.segment().closed() ? schedule.lowerBoundBytes() : 0;
    }

    private static List<Integer> operators(Nodes nodes, Iterable<Schedule> segments) {
        ImmutableList.Builder<Integer> operators = ImmutableList.builder();
        for (Schedule segment : segments) {
            for (int node : segment.nodes().asList()) {
                operators.addAll(nodes.nodes().get(segment.segment().first() + node).operators());
            }
        }
        return operators.build();
    }
}
