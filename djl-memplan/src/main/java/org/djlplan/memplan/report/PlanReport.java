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
 * The plan of a loaded model, and its predictions so far. Immutable: request a new report for newer
 * figures.
 *
 * @param engine name of the DJL engine
 * @param unplannedReason why the model runs as stock, perhaps only since an error; empty if it is
 *     planned
 * @param plan the plan in use; {@link Plan#NONE} if there never was one
 * @param interpreters one entry per live interpreter; empty if the engine has no interpreters
 * @param predictions counts of predictions so far
 * @param delegation the delegated operators, and why; empty if delegation is off
 * @param budget use of the budget; empty if the model has none
 */
public record PlanReport(
        String engine,
        Optional<String> unplannedReason,
        Plan plan,
        List<Interpreter> interpreters,
        Predictions predictions,
        Optional<DelegationReport> delegation,
        Optional<BudgetReport> budget) {

    private static final Map<Block, Supplier<PlanReport>> SOURCES =
            new MapMaker().weakKeys().makeMap();

    public PlanReport {
        interpreters = ImmutableList.copyOf(interpreters);
    }

    /** Returns this report with a budget section. */
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
     * @param strategy name of the strategy whose plan is used, with {@code "+in-place"} if tensors
     *     share places; empty if not planned
     * @param records number of planned tensors
     * @param inPlaceRecords number of tensors that share another's place
     * @param naiveBytes total size of all planned tensors, without shared memory
     * @param lowerBoundBytes maximum operator breadth without aliases
     * @param arenaBytes size of the plan in use
     * @param provedMinimal whether it is proved that no plan is smaller: the plan is at the lower
     *     bound, or a complete search found none
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

        /** The plan of an unplanned model. */
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
     * @param unplanned number of predictions without a plan, or not as planned
     * @param online number of these whose allocations got places in an arena online
     * @param unplannedAllocations number of allocations that did not get the planned place, or
     *     found no place in the arena
     * @param recorded number of predictions that were recorded for planning
     * @param escaped number of allocations that unexpectedly outlived their prediction in an arena
     * @param byFormula number of predictions with a shape that was not recorded, and a plan based
     *     on formulas
     */
    public record Predictions(
            long total,
            long unplanned,
            long online,
            long unplannedAllocations,
            long recorded,
            long escaped,
            long byFormula) {

        /** The counts of a model that was never used. */
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
     * @param inputShapes shapes for which it was planned
     * @param ownBytes memory of its own: inputs and outputs, and everything unplanned
     * @param arenaBytes memory that it needs in an arena while it runs
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

    /**
     * Returns the report of a model that was loaded through djl-plan, or empty for other models.
     */
    public static Optional<PlanReport> of(Model model) {
        return source(model).map(Supplier::get);
    }

    /** Returns what {@link #register} was given for the model's block. */
    public static Optional<Supplier<PlanReport>> source(Model model) {
        return Optional.ofNullable(SOURCES.get(model.getBlock()));
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

    /** Returns this report for a model that was planned and now runs as stock for a reason. */
    public PlanReport stopped(String reason) {
        return new PlanReport(
                engine, Optional.of(reason), plan, interpreters, predictions, delegation, budget);
    }

    /**
     * Registers {@code source} as the source of reports on {@code block}, as long as the block
     * lives.
     */
    public static void register(Block block, Supplier<PlanReport> source) {
        SOURCES.put(block, source);
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
