package org.djlplan.cli;

import com.google.gson.JsonObject;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.internal.runtime.torch.OperatorNames;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;

/** The planner's benchmark problems, for tests of report pages. */
public final class GeneratedPlans {

    private static final List<String> TYPES =
            List.of("CONV_2D", "DEPTHWISE_CONV_2D", "ADD", "RELU6", "AVERAGE_POOL_2D", "RESHAPE");

    private GeneratedPlans() {}

    /** Returns a network of {@code tensors} intermediate tensors. */
    public static PlanningProblem network(int tensors) {
        return GeneratedProblems.NETWORK.problem(tensors, GeneratedProblems.SEED);
    }

    /** Returns {@code tensors} tensors of a training step, many of them nested in time. */
    public static PlanningProblem training(int tensors) {
        return GeneratedProblems.TRAINING.problem(tensors, GeneratedProblems.SEED);
    }

    /**
     * Returns a report that has only plans.
     *
     * @param strategy the name of one, or "all"
     */
    public static JsonObject report(String title, PlanningProblem problem, String strategy) {
        Report.Model model =
                new Report.Model(title, "records", "csv", Optional.empty(), Optional.empty());
        return new Report("0.3.0", model, Map.of(), map(problem, strategy)).toJson(Map.of());
    }

    /** Returns the plans of a problem, with invented operators, names and shapes. */
    private static MemoryMap map(PlanningProblem problem, String strategy) {
        Map<Integer, String> names = new HashMap<>();
        Map<Integer, OperatorNames.Named> made = new HashMap<>();
        for (UsageRecord record : problem.records()) {
            int id = record.tensor();
            String type = TYPES.get(id % TYPES.size());
            names.put(id, "block_" + id / 6 + "/" + type + "/output_" + id);
            List<Integer> shape = List.of(1, (int) (record.bytes() / 4));
            made.put(id, new OperatorNames.Named(record.bytes(), type, Optional.of(shape)));
        }
        PlanInput input =
                new PlanInput(
                        PlanInput.View.CSV,
                        List.of(problem),
                        Optional.empty(),
                        names,
                        made,
                        1,
                        Optional.empty());
        return new PlanMap(input)
                .of(
                        PlanRun.of(
                                input,
                                PlanRun.Choice.named(strategy),
                                Optional.empty(),
                                Optional.empty()));
    }
}
