package org.djlplan.memplan.cli;

import java.util.Locale;
import org.djlplan.memplan.config.InPlace;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.plan.portfolio.Attempt;
import org.djlplan.memplan.study.parallel.AntichainBound;
import org.djlplan.memplan.study.parallel.ParallelPlanner;

/**
 * A plan for an engine that runs independent branches at once, and what it costs.
 *
 * @param plan the plan, valid in any order of operators that the graph allows
 * @param figures the comparison
 */
record ParallelPrice(OffsetPlan plan, Figures figures) {

    /**
     * What the plan costs; the fields are those of its JSON.
     *
     * @param strategy name of the strategy, with {@code "+in-place"} when tensors share places
     * @param serialBytes arena of the best plan for operators that run one after another
     * @param totalBytes arena of this plan
     * @param ratio this arena divided by the serial one; 1 when neither needs any
     * @param lowerBoundBytes what no plan for branches at once can go below, with the same tensors
     *     sharing places
     * @param provedMinimal whether this plan reaches that bound
     */
    record Figures(
            String strategy,
            long serialBytes,
            long totalBytes,
            double ratio,
            long lowerBoundBytes,
            boolean provedMinimal) {

        String toText() {
            return String.format(
                    Locale.ROOT,
                    "%nbranches at once: %s, %,d bytes%s, %.3f times as much",
                    strategy,
                    totalBytes,
                    provedMinimal ? ", at the lower bound" : "",
                    ratio);
        }
    }

    /**
     * Plans {@code graph} for branches at once.
     *
     * @param serial the plan to compare with
     */
    static ParallelPrice of(Graph graph, OffsetPlan serial) {
        Attempt planned = ParallelPlanner.plan(graph, InPlace.TRUE);
        long totalBytes = planned.plan().totalBytes();
        long serialBytes = serial.totalBytes();
        long boundBytes = AntichainBound.bytes(planned.plan().problem());
        return new ParallelPrice(
                planned.plan(),
                new Figures(
                        planned.name(),
                        serialBytes,
                        totalBytes,
                        serialBytes == 0 ? 1 : Math.round(1e3 * totalBytes / serialBytes) / 1e3,
                        boundBytes,
                        totalBytes == boundBytes));
    }
}
