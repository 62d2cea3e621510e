package org.djlplan.memplan.cli;

import java.util.List;
import java.util.Locale;
import org.djlplan.memplan.config.InPlace;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.order.PlannedOrder;

/**
 * What a better order of operators brings; the fields are those of its JSON.
 *
 * @param breadthBeforeBytes maximum breadth in the model's own order
 * @param breadthAfterBytes maximum breadth in the order that was found
 * @param arenaBeforeBytes smallest arena in the model's own order
 * @param arenaAfterBytes smallest arena in the order that was found
 * @param minimal whether it is proved that no order has a smaller maximum breadth
 * @param operators indices of the operators in the model, in the order to execute
 */
record OrderEffect(
        long breadthBeforeBytes,
        long breadthAfterBytes,
        long arenaBeforeBytes,
        long arenaAfterBytes,
        boolean minimal,
        List<Integer> operators) {

    /**
     * Searches for an order.
     *
     * @param strategy by which both orders are planned
     */
    static OrderEffect of(Graph graph, String strategy) {
        PlannedOrder found = PlannedOrder.of(graph, strategy, InPlace.TRUE);
        return new OrderEffect(
                found.order().breadthBeforeBytes(),
                found.order().breadthAfterBytes(),
                found.arenaBeforeBytes(),
                found.arenaAfterBytes(),
                found.order().minimal(),
                found.order().operators());
    }

    String toText() {
        return String.format(
                Locale.ROOT,
                "%n%n%-18s %18s %18s%n%-18s %,18d %,18d%n%-18s %,18d %,18d%n%s",
                "order of operators",
                "as it stands",
                "as found",
                "maximum breadth",
                breadthBeforeBytes,
                breadthAfterBytes,
                "arena",
                arenaBeforeBytes,
                arenaAfterBytes,
                minimal
                        ? "proved: no order has a smaller maximum breadth"
                        : "not proved: another order may have a smaller maximum breadth");
    }
}
