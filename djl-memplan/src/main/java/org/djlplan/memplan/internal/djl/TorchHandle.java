package org.djlplan.memplan.internal.djl;

import java.util.Optional;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.budget.ResidentWeights;
import org.djlplan.memplan.internal.config.Budget;
import org.djlplan.memplan.internal.djl.liveness.LivenessStatus;
import org.djlplan.memplan.internal.plan.EvaluatedPlan;
import org.djlplan.memplan.internal.plan.MemoryPlanner;
import org.djlplan.memplan.internal.report.Reports;
import org.djlplan.memplan.internal.runtime.torch.StreamedWeights;
import org.djlplan.memplan.internal.runtime.torch.TorchMemory;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.PlanReport;

/**
 * The handle of a PyTorch model. It is always ready, because predictions need no plan.
 *
 * @param limit the limit on the sizes of inputs
 * @param weights the weights of a model with a budget
 * @param liveness whether arrays of an imperative block are closed early; not the block itself,
 *     which a handle would retain
 * @param rewriting how the model is rewritten, if it may be; neither the block nor the chooser
 * @param verification whether the model runs as stock because its outputs differed
 */
record TorchHandle(
        TorchMemory memory,
        InputLimit limit,
        Optional<StreamedWeights> weights,
        Optional<LivenessStatus> liveness,
        Optional<RewriteChoice> rewriting,
        VerifiedForward.Status verification)
        implements ModelHandle {

    @Override
    public PlanReport get() {
        Optional<DelegationReport> choice = rewriting.flatMap(RewriteChoice::report);
        return Reports.with(
                verification.applied(memory.report()),
                choice,
                choice.isPresent() ? Optional.empty() : liveness.flatMap(LivenessStatus::end));
    }

    @Override
    public Optional<InputLimit> inputLimit() {
        return Optional.of(limit);
    }

    @Override
    public void trim() {
        memory.trim();
    }

    @Override
    public void recordNext() {
        memory.recordNext();
    }

    /** A plan of the prediction that was recorded; it is not used. */
    @Override
    public Optional<EvaluatedPlan> allocations() {
        return memory.recorded().map(trace -> MemoryPlanner.plan(trace.problem()));
    }

    @Override
    public Optional<ResidentWeights> residentWeights() {
        return weights.flatMap(StreamedWeights::resident);
    }

    @Override
    public boolean hasBudget() {
        return weights.isPresent();
    }

    @Override
    public void setBudget(Budget budget) throws BudgetTooSmallException {
        memory.setBudget(BudgetedWeights.resolver(budget, weights.orElseThrow().bytes()));
    }
}
