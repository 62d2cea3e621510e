package org.djlplan.memplan.report;

import ai.djl.Model;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.djlplan.memplan.internal.report.PlanReportRecord;
import org.djlplan.memplan.internal.report.ReportSources;

/**
 * The plan of a loaded model, and its predictions so far. Immutable: request a new report for newer
 * figures.
 *
 * <p>Only djl-plan and tests should implement the interfaces of reports, because a later version
 * may add figures.
 */
public interface PlanReport {

    /**
     * Returns the report of a model that was loaded through djl-plan, or empty for other models.
     */
    static Optional<PlanReport> of(Model model) {
        return ReportSources.of(model).map(Supplier::get);
    }

    /** Returns the name of the DJL engine. */
    String engine();

    /** Returns why the model runs as stock, perhaps only since an error; empty if it is planned. */
    Optional<String> unplannedReason();

    /**
     * Returns how tensors are placed in an arena; {@link Plan#NONE} if no prediction had an arena.
     */
    Plan plan();

    /** Returns an entry for each live interpreter; empty if the engine has no interpreters. */
    List<Interpreter> interpreters();

    /** Returns the counts of predictions so far. */
    Predictions predictions();

    /** Returns the delegated operators, and why; empty if delegation is off. */
    Optional<DelegationReport> delegation();

    /** Returns the use of the budget; empty if the model has none. */
    Optional<BudgetReport> budget();

    /**
     * Returns why intermediates of an imperative block are left to DJL, which closes them when the
     * call ends; empty if they are closed after their last use, and for other models.
     */
    Optional<String> unclosedReason();

    /**
     * Returns the prediction that needed most memory so far. Empty before the first one in an
     * arena, and for a TensorFlow Lite model with a budget, whose report has the size of its arena.
     *
     * @since 0.3
     */
    Optional<Peak> peak();

    /** Returns whether the model runs in a planned arena. */
    boolean planned();

    /**
     * Returns the report as a JSON object, whose keys are the names of the methods; empty values
     * are left out.
     */
    String toJson();

    /** Returns the report for people, one line each for the plan, the predictions and the rest. */
    @Override
    String toString();

    /** The places of a model's tensors in one arena. */
    interface Plan {

        /** The plan of an unplanned model. */
        Plan NONE = new PlanReportRecord.Plan("", 0, 0, 0, 0, 0, false, 0);

        /**
         * Returns how places were chosen in the prediction that needed the largest arena: {@code
         * "first-fit"} online, without a plan; otherwise the name of the plan's strategy, with
         * {@code "+in-place"} if tensors share places. Empty before the first prediction, and for a
         * model that runs as stock.
         */
        String strategy();

        /** Returns the number of planned tensors. */
        int records();

        /** Returns the number of tensors that share another's place. */
        int inPlaceRecords();

        /** Returns the total size of all planned tensors in bytes, as if they shared no memory. */
        long naiveBytes();

        /**
         * Returns the maximum operator breadth in bytes, without aliases; for PyTorch and ONNX
         * Runtime the most bytes that were in use at once. No arena can be smaller.
         */
        long lowerBoundBytes();

        /** Returns the size of the arena in bytes. */
        long arenaBytes();

        /**
         * Returns whether it is proved that no plan is smaller: the plan is at the lower bound, or
         * a complete search found no smaller one.
         */
        boolean provedMinimal();

        /**
         * Returns the bytes that the engine still allocates itself per interpreter for inputs and
         * outputs of the model and of delegate kernels.
         */
        long inputOutputBytes();

        /** Returns one line for people. */
        @Override
        String toString();
    }

    /** Counts of predictions until now. */
    interface Predictions {

        /** The counts of a model that was never used. */
        Predictions NONE = new PlanReportRecord.Predictions(0, 0, 0, 0, 0, 0);

        /** Returns the number of predictions. */
        long total();

        /**
         * Returns the number of predictions outside of arenas: in the engine's own memory, or for
         * TensorFlow Lite in memory of their own.
         */
        long unplanned();

        /**
         * Returns the number of predictions in an arena without a plan: each allocation got the
         * lowest free place.
         */
        long online();

        /** Returns the number of allocations for which an arena had no room. */
        long unplannedAllocations();

        /** Returns the number of predictions that were recorded for planning. */
        long recorded();

        /**
         * Returns the number of allocations that unexpectedly outlived their prediction in an
         * arena.
         */
        long escaped();

        /** Returns one line for people. */
        @Override
        String toString();
    }

    /**
     * The prediction of a model that needed most memory.
     *
     * @since 0.3
     */
    interface Peak {

        /**
         * Returns the most bytes that were in use at once in the prediction's arena; for TensorFlow
         * Lite the arena, inputs and outputs.
         */
        long predictionBytes();

        /** Returns the shapes of its inputs; empty if there were strings among them. */
        List<List<Long>> inputShapes();

        /**
         * Returns the most bytes of this process that were in memory at once since the model was
         * loaded; empty if the system does not report it. If the process had more before, the most
         * that were seen when a prediction or a report was larger than all before.
         */
        OptionalLong processBytes();

        /** Returns one line for people. */
        @Override
        String toString();
    }

    /** One interpreter of a model. */
    interface Interpreter {

        /** Returns the shapes for which it was planned: one per input, batch first. */
        List<List<Integer>> inputShapes();

        /** Returns the bytes outside the arena: inputs and outputs, and everything unplanned. */
        long ownBytes();

        /** Returns the bytes that it needs in an arena while it runs. */
        long arenaBytes();

        /** Returns one line for people. */
        @Override
        String toString();
    }
}
