package org.djlplan.memplan.internal.serving;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.djlplan.memplan.internal.budget.StreamingPlan;
import org.djlplan.memplan.internal.budget.Timeline;
import org.djlplan.memplan.internal.runtime.PlanFigures;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.report.WeightIo;

/** The report of a streamed model. */
final class StreamingReport {

    private StreamingReport() {}

    /**
     * Returns the report.
     *
     * @param serving the model's interpreter
     * @param shapes the interpreter's input shapes
     * @param lastStallNanos how long the last prediction waited for loads; empty before the first
     *     one
     */
    static PlanReport of(
            BudgetedInterpreter serving,
            List<List<Integer>> shapes,
            long budgetBytes,
            int threads,
            long predictions,
            OptionalLong lastStallNanos) {
        StreamingPlan plan = serving.plan();
        long ownBytes = serving.interpreter().ownBytes();
        return new PlanReport(
                "TFLite",
                Optional.empty(),
                PlanFigures.of(plan, ownBytes),
                List.of(new PlanReport.Interpreter(shapes, ownBytes, plan.arenaBytes())),
                new PlanReport.Predictions(predictions, 0, 0, 0, 0, 0),
                Optional.empty(),
                Optional.of(budget(serving, budgetBytes, threads, lastStallNanos)),
                Optional.empty(),
                Optional.empty());
    }

    private static BudgetReport budget(
            BudgetedInterpreter serving,
            long budgetBytes,
            int threads,
            OptionalLong lastStallNanos) {
        StreamingPlan plan = serving.plan();
        Timeline timeline = Timeline.of(plan);
        return new BudgetReport(
                budgetBytes,
                Math.min(serving.leastArenaBytes(), serving.copy().leastArenaBytes())
                        + BudgetedInterpreter.bytesBesideArena(threads),
                plan.arenaBytes(),
                serving.graph().weightBytes(),
                plan.pinnedBytes(),
                serving.graph().pieces(),
                serving.copy().slicedOperators(),
                serving.interpreter().delegatedOperators(),
                serving.delegatedBytes(),
                timeline.loadedBytes(),
                timeline.stallNanos(),
                lastStallNanos,
                io(serving));
    }

    private static WeightIo io(BudgetedInterpreter serving) {
        return switch (serving.interpreter().stream().io()) {
            case CACHED -> WeightIo.CACHED;
            case MMAP -> WeightIo.MMAP;
            case DIRECT, DROPPED -> WeightIo.DIRECT;
        };
    }
}
