package org.djlplan.memplan.report;

/**
 * The result of the search for a better order of operators, with nothing delegated.
 *
 * @param breadthBeforeBytes maximum operator breadth in the order of the model's file
 * @param breadthAfterBytes maximum operator breadth in the order that was found
 * @param arenaBeforeBytes size of the arena in the order of the model's file
 * @param arenaAfterBytes size of the arena in the order that was found
 * @param minimal whether it is proved that no order has a smaller maximum breadth
 * @param adopted whether the model runs in the order that was found
 */
public record OrderReport(
        long breadthBeforeBytes,
        long breadthAfterBytes,
        long arenaBeforeBytes,
        long arenaAfterBytes,
        boolean minimal,
        boolean adopted) {}
