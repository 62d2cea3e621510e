package org.djlplan.memplan.report;

import ai.djl.Model;
import ai.djl.nn.Block;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.MapMaker;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The plan of a loaded model, and what happened until now. Immutable: ask again for newer figures.
 *
 * @param engine name of the DJL engine
 * @param unplannedReason why the model runs as stock, perhaps only since something went wrong;
 *     empty when it is planned
 * @param plan the plan in use; {@link Plan#NONE} when there never was one
 * @param interpreters one entry per live interpreter; none where the engine has no interpreters
 * @param predictions what became of the predictions until now
 * @param delegation what runs in the engine's delegate and why; empty where delegation is off
 * @param budget how the model keeps inside its budget; empty where it has none
 */
public record PlanReport(
        String engine,
        Optional<String> unplannedReason,
        Plan plan,
        List<Interpreter> interpreters,
        Predictions predictions,
        Optional<DelegationReport> delegation,
        Optional<BudgetReport> budget) {

    private static final Map<Block, Supplier<PlanReport>> REPORTS =
            new MapMaker().weakKeys().makeMap();

    public PlanReport {
        interpreters = ImmutableList.copyOf(interpreters);
    }

    /** Returns the same report, with that on a budget. */
    public PlanReport within(BudgetReport limits) {
        return new PlanReport(
                engine,
                unplannedReason,
                plan,
                interpreters,
                predictions,
                delegation,
                Optional.of(limits));
    }

    /**
     * The plan of a model's tensors in one arena.
     *
     * @param strategy name of the strategy whose plan is used, with {@code "+in-place"} when
     *     tensors share places; empty when not planned
     * @param records number of planned tensors
     * @param inPlaceRecords how many of them share another's place
     * @param naiveBytes size of all planned tensors, each with memory of its own
     * @param lowerBoundBytes maximum operator breadth without aliases
     * @param arenaBytes size of the plan in use
     * @param provedMinimal whether it is known that no plan is smaller: it is at the lower bound,
     *     with places shared where that pays, or a complete search found none
     * @param inputOutputBytes memory that the engine still allocates itself per interpreter for
     *     inputs and outputs of the model and of delegate kernels
     */
    public record Plan(
            String strategy,
            int records,
            int inPlaceRecords,
            long naiveBytes,
            long lowerBoundBytes,
            long arenaBytes,
            boolean provedMinimal,
            long inputOutputBytes) {

        /** What an unplanned model has. */
        public static final Plan NONE = new Plan("", 0, 0, 0, 0, 0, false, 0);

        /** Returns one line for people. */
        @Override
        public String toString() {
            return strategy.isEmpty()
                    ? "no plan, " + inputOutputBytes + " bytes of inputs and outputs"
                    : records
                            + " tensors in an arena of "
                            + arenaBytes
                            + " bytes by "
                            + strategy
                            + (provedMinimal ? ", proved minimal" : "")
                            + " ("
                            + naiveBytes
                            + " naive, lower bound "
                            + lowerBoundBytes
                            + "), "
                            + inputOutputBytes
                            + " bytes of inputs and outputs";
        }
    }

    /**
     * Predictions until now.
     *
     * @param total how many
     * @param unplanned how many of them ran without a plan, or not as planned
     * @param online how many of these got their places in an arena all the same, as they allocated
     * @param unplannedAllocations how many allocations did not get the place that was planned, or
     *     found none in the arena
     * @param recorded how many were recorded in order to be planned
     * @param escaped how many allocations outlived their prediction in an arena, before that was
     *     known of them
     * @param byFormula how many had inputs of a shape that was not recorded, and a plan of sizes
     *     that recordings of other shapes told
     */
    public record Predictions(
            long total,
            long unplanned,
            long online,
            long unplannedAllocations,
            long recorded,
            long escaped,
            long byFormula) {

        /** What a model has that nobody used. */
        public static final Predictions NONE = new Predictions(0, 0, 0, 0, 0, 0, 0);

        /** Returns one line for people. */
        @Override
        public String toString() {
            return total
                    + " predictions, "
                    + unplanned
                    + " unplanned ("
                    + online
                    + " online), "
                    + (byFormula > 0 ? byFormula + " by formula, " : "")
                    + recorded
                    + " recorded, "
                    + unplannedAllocations
                    + " allocations against the plan, "
                    + escaped
                    + " escaped";
        }
    }

    /**
     * One interpreter of a model.
     *
     * @param inputShapes shapes it was planned for
     * @param ownBytes memory it holds for itself: inputs and outputs, and anything unplanned
     * @param arenaBytes what it needs of an arena while it runs
     */
    public record Interpreter(List<List<Integer>> inputShapes, long ownBytes, long arenaBytes) {

        /** Returns one line for people. */
        @Override
        public String toString() {
            return "interpreter for "
                    + inputShapes
                    + ": "
                    + ownBytes
                    + " bytes of its own, "
                    + arenaBytes
                    + " of an arena";
        }
    }

    /** Returns the report of a model that was loaded through djl-plan, or empty for any other. */
    public static Optional<PlanReport> of(Model model) {
        return Optional.ofNullable(REPORTS.get(model.getBlock())).map(Supplier::get);
    }

    /** Returns the report of a model that runs as stock. */
    public static PlanReport unplanned(String engine, String reason) {
        return new PlanReport(
                engine,
                Optional.of(reason),
                Plan.NONE,
                List.of(),
                Predictions.NONE,
                Optional.empty(),
                Optional.empty());
    }

    /** Returns the same of a model that was planned and, for a reason, runs as stock by now. */
    public PlanReport stopped(String reason) {
        return new PlanReport(
                engine, Optional.of(reason), plan, interpreters, predictions, delegation, budget);
    }

    /** Makes {@code source} answer for {@code block} as long as the block lives. */
    public static void register(Block block, Supplier<PlanReport> source) {
        REPORTS.put(block, source);
    }

    /** Returns whether the model runs in a planned arena. */
    public boolean planned() {
        return unplannedReason.isEmpty();
    }

    /**
     * Returns the report as a JSON object, whose keys are the names of the components; empty ones
     * are left out.
     */
    public String toJson() {
        return ReportJson.of(this);
    }

    /** Returns the report for people, one line each for the plan, the predictions and the rest. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(engine).append(": ");
        text.append(unplannedReason.map(why -> "as stock: " + why).orElse("planned"));
        text.append("\n  ").append(plan).append("\n  ").append(predictions);
        interpreters.forEach(each -> text.append("\n  ").append(each));
        delegation.ifPresent(each -> text.append("\n  ").append(each));
        budget.ifPresent(each -> text.append("\n  ").append(each));
        return text.toString();
    }
}
