package org.djlplan.memplan.internal.djl;

import ai.djl.Model;
import ai.djl.nn.Block;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.budget.ResidentWeights;
import org.djlplan.memplan.internal.config.Budget;
import org.djlplan.memplan.internal.plan.EvaluatedPlan;
import org.djlplan.memplan.internal.report.ReportSources;
import org.djlplan.memplan.report.PlanReport;

/**
 * The handle of one loaded model: reports what was planned, and changes what can be changed while
 * the model serves. {@link ReportSources#register} stores it by the model's block. If a model runs
 * as stock, its handle only reports. Any thread may call it.
 */
@FunctionalInterface
public interface ModelHandle extends Supplier<PlanReport> {

    /** Returns the handle of a model that was loaded through djl-plan, or empty for any other. */
    static Optional<ModelHandle> of(Model model) {
        return ReportSources.of(model).map(ModelHandle.class::cast);
    }

    /** Returns the limit on the sizes of inputs; empty for a model that runs as stock. */
    default Optional<InputLimit> inputLimit() {
        return Optional.empty();
    }

    /** Returns whether the delegate's part is verified, or never will be. Does not wait. */
    default boolean isReady() {
        return true;
    }

    /**
     * Records the allocations of the next prediction, for {@link #allocations}. Has no effect for
     * TensorFlow Lite.
     */
    default void recordNext() {}

    /**
     * Returns a plan of the allocations of a recorded prediction, which is not used. Empty before
     * one was recorded, and for TensorFlow Lite.
     */
    default Optional<EvaluatedPlan> allocations() {
        return Optional.empty();
    }

    /** Returns to the system the memory of an arena that the model does not share. */
    default void trim() {}

    /** Returns whether the model keeps values from one prediction to the next, as far as known. */
    default boolean keepsState() {
        return false;
    }

    /**
     * Returns a block that predicts as the model's own, but whose closing frees nothing; empty if
     * models do not close their blocks.
     */
    default Optional<Block> view() {
        return Optional.empty();
    }

    /** Returns the bytes that the engine allocated for weights; empty if they are not counted. */
    default OptionalLong weightsBytes() {
        return OptionalLong.empty();
    }

    /**
     * Returns, for a model with a budget, when each of its weights is in memory; empty if all
     * weights always are, or nothing is planned yet.
     */
    default Optional<ResidentWeights> residentWeights() {
        return Optional.empty();
    }

    /**
     * Returns whether the model was loaded with a budget, so that it can be given another one; no
     * longer if it was left to the engine.
     */
    default boolean hasBudget() {
        return false;
    }

    /**
     * Plans a model that has a budget for another one, from the next prediction on. On any error
     * the budget stays as it was.
     *
     * @throws BudgetTooSmallException if the model cannot run in it, and the budget is not
     *     best-effort
     * @throws java.io.UncheckedIOException if files that the budget needs cannot be made
     * @throws IllegalStateException if the model is closed
     */
    default void setBudget(Budget budget) throws BudgetTooSmallException {
        throw new IllegalStateException("loaded without a budget");
    }
}
