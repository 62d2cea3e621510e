package org.djlplan.memplan.order;

import static com.google.common.base.Preconditions.checkArgument;

import org.djlplan.memplan.config.InPlace;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.plan.portfolio.MemoryPlanner;

/**
 * An order and what it does to the arena. A smaller maximum breadth need not give a smaller arena:
 * tensors that share places in the one order may not in the other.
 *
 * @param order the order
 * @param arenaBeforeBytes arena of the order in which the operators stand
 * @param arenaAfterBytes arena of {@code order}
 */
public record PlannedOrder(OperatorOrder order, long arenaBeforeBytes, long arenaAfterBytes) {

    public PlannedOrder {
        checkArgument(
                arenaBeforeBytes >= 0 && arenaAfterBytes >= 0,
                "arenas of %s and %s bytes",
                arenaBeforeBytes,
                arenaAfterBytes);
    }

    /**
     * Searches for an order and plans the memory of both.
     *
     * @param graph the model, with temporaries if the engine was asked
     * @param strategy a name that {@link org.djlplan.memplan.plan.portfolio.Strategies#named} knows
     * @param inPlace when operators may write over their inputs
     * @throws IllegalArgumentException if there is no such strategy
     * @throws ArithmeticException if the sizes add up to more than a long holds
     */
    public static PlannedOrder of(Graph graph, String strategy, InPlace inPlace) {
        OperatorOrder order = OrderSearch.of(graph);
        long beforeBytes = arenaBytes(graph, strategy, inPlace);
        long afterBytes =
                order.changes()
                        ? arenaBytes(
                                ReorderedGraphs.of(graph, order.operators()), strategy, inPlace)
                        : beforeBytes;
        return new PlannedOrder(order, beforeBytes, afterBytes);
    }

    private static long arenaBytes(Graph graph, String strategy, InPlace inPlace) {
        return MemoryPlanner.plan(graph, strategy, inPlace).plan().totalBytes();
    }

    /** Returns whether the arena gets smaller, so that the order is adopted. */
    public boolean worthwhile() {
        return order.changes() && arenaAfterBytes < arenaBeforeBytes;
    }
}
