package org.djlplan.memplan.report;

import ai.djl.Model;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.djlplan.memplan.internal.json.Json;
import org.djlplan.memplan.internal.report.ReportSources;

/**
 * The plan of a loaded model, and its predictions so far. Immutable: request a new report for newer
 * figures.
 *
 * <p>Only djl-plan and tests should construct reports, because a later version may add figures.
 *
 * @param engine the name of the DJL engine
 * @param unplannedReason why the model runs as stock, perhaps only since an error; empty if it is
 *     planned
 * @param plan how tensors are placed in an arena; {@link Plan#NONE} if no prediction had an arena
 * @param interpreters an entry for each live interpreter; empty if the engine has no interpreters
 * @param predictions the counts of predictions so far
 * @param delegation the delegated operators, and why; empty if delegation is off
 * @param budget the use of the budget; empty if the model has none
 * @param unclosedReason why intermediates of an imperative block are left to DJL, which closes them
 *     when the call ends; empty if they are closed after their last use, and for other models
 * @param peak the prediction that needed most memory so far. Empty before the first one in an
 *     arena, and for a TensorFlow Lite model whose weights are streamed, whose report has the size
 *     of its arena
 */
public record PlanReport(
        String engine,
        Optional<String> unplannedReason,
        Plan plan,
        List<Interpreter> interpreters,
        Predictions predictions,
        Optional<DelegationReport> delegation,
        Optional<BudgetReport> budget,
        Optional<String> unclosedReason,
        Optional<Peak> peak) {

    public PlanReport {
        interpreters = List.copyOf(interpreters);
    }

    /**
     * Returns the report of a model that was loaded through djl-plan, or empty for other models.
     */
    public static Optional<PlanReport> of(Model model) {
        return ReportSources.of(model).map(Supplier::get);
    }

    /** Returns whether the model runs in a planned arena. */
    public boolean planned() {
        return unplannedReason.isEmpty();
    }

    /**
     * Returns the report as a JSON object, whose keys are the names of the methods; empty values
     * are left out.
     */
    public String toJson() {
        return Json.sparse(this).toString();
    }

    /** Returns the report for people, one line each for the plan, the predictions and the rest. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(engine).append(": ");
        text.append(unplannedReason.map(why -> "as stock: " + why).orElse("planned"));
        text.append("\n  ").append(plan).append("\n  ").append(predictions);
        peak.ifPresent(each -> text.append("\n  ").append(each));
        interpreters.forEach(each -> text.append("\n  ").append(each));
        delegation.ifPresent(each -> text.append("\n  ").append(each));
        budget.ifPresent(each -> text.append("\n  ").append(each));
        unclosedReason.ifPresent(
                each -> text.append("\n  intermediates are left to DJL: ").append(each));
        return text.toString();
    }

    /**
     * The places of a model's tensors in one arena.
     *
     * @param strategy how places were chosen in the prediction that needed the largest arena:
     *     {@code "first-fit"} online, without a plan; otherwise the name of the plan's strategy,
     *     with {@code "+in-place"} if tensors share places. Empty before the first prediction, and
     *     for a model that runs as stock
     * @param records the number of planned tensors
     * @param inPlaceRecords the number of tensors that share another's place
     * @param naiveBytes the total size of all planned tensors, as if they shared no memory
     * @param lowerBoundBytes the maximum operator breadth, without aliases; for PyTorch and ONNX
     *     Runtime the most bytes that were in use at once. No arena can be smaller
     * @param arenaBytes the size of the arena
     * @param provedMinimal whether it is proved that no plan is smaller: the plan is at the lower
     *     bound, or a complete search found no smaller one
     * @param inputOutputBytes the bytes that the engine still allocates itself per interpreter for
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

        /** The strategy of an arena without a plan: each tensor gets the lowest free place. */
        public static final String ONLINE = "first-fit";

        /** The plan of an unplanned model. */
        public static final Plan NONE = new Plan("", 0, 0, 0, 0, 0, false, 0);

        /** Returns one line for people. */
        @Override
        public String toString() {
            if (strategy.equals(ONLINE)) {
                return String.format(
                        Locale.ROOT,
                        "%d tensors placed online (first fit) in an arena of %d bytes, %.2f of the"
                                + " %d bytes in use at once (%d naive)",
                        records,
                        arenaBytes,
                        (double) arenaBytes / Math.max(1, lowerBoundBytes),
                        lowerBoundBytes,
                        naiveBytes);
            }
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
     * Counts of predictions until now.
     *
     * @param total the number of predictions
     * @param unplanned the number of predictions outside of arenas: in the engine's own memory, or
     *     for TensorFlow Lite in memory of their own
     * @param online the number of predictions in an arena without a plan: each allocation got the
     *     lowest free place
     * @param unplannedAllocations the number of allocations for which an arena had no room
     * @param recorded the number of predictions that were recorded for planning
     * @param escaped the number of allocations that unexpectedly outlived their prediction in an
     *     arena
     */
    public record Predictions(
            long total,
            long unplanned,
            long online,
            long unplannedAllocations,
            long recorded,
            long escaped) {

        /** The counts of a model that was never used. */
        public static final Predictions NONE = new Predictions(0, 0, 0, 0, 0, 0);

        /** Returns one line for people. */
        @Override
        public String toString() {
            return total
                    + " predictions: "
                    + (total - unplanned - online)
                    + " by a plan, "
                    + online
                    + " online, "
                    + unplanned
                    + " outside of arenas; "
                    + recorded
                    + " recorded; allocations: "
                    + unplannedAllocations
                    + " outside of arenas, "
                    + escaped
                    + " escaped";
        }
    }

    /**
     * The prediction of a model that needed most memory.
     *
     * @param predictionBytes the most bytes that were in use at once in the prediction's arena; for
     *     TensorFlow Lite the arena, inputs and outputs
     * @param inputShapes the shapes of its inputs; empty if there were strings among them
     * @param processBytes the most bytes of this process that were in memory at once since the
     *     model was loaded; empty if the system does not report it. If the process had more before,
     *     the most that were seen when a prediction or a report was larger than all before
     * @since 0.3
     */
    public record Peak(
            long predictionBytes, List<List<Long>> inputShapes, OptionalLong processBytes) {

        public Peak {
            inputShapes = List.copyOf(inputShapes);
        }

        /** Returns one line for people. */
        @Override
        public String toString() {
            return "most memory of a prediction: "
                    + predictionBytes
                    + " bytes"
                    + (inputShapes.isEmpty() ? "" : ", with inputs of shapes " + inputShapes)
                    + (processBytes.isPresent()
                            ? "; of the process since the load: "
                                    + processBytes.getAsLong()
                                    + " bytes"
                            : "");
        }
    }

    /**
     * One interpreter of a model.
     *
     * @param inputShapes the shapes for which it was planned: one per input, batch first
     * @param ownBytes the bytes outside the arena: inputs and outputs, and everything unplanned
     * @param arenaBytes the bytes that it needs in an arena while it runs
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
}
