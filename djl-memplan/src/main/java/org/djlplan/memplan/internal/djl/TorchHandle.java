package org.djlplan.memplan.internal.djl;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.budget.ResidentWeights;
import org.djlplan.memplan.internal.config.Budget;
import org.djlplan.memplan.internal.plan.portfolio.EvaluatedPlan;
import org.djlplan.memplan.internal.report.PlanReportRecord;
import org.djlplan.memplan.internal.runtime.torch.StreamedWeights;
import org.djlplan.memplan.internal.runtime.torch.TorchMemory;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.PlanReport;

/**
 * The handle of a PyTorch model. It is always ready, because predictions have an arena before there
 * is a plan.
 *
 * @param limit the limit on the sizes of inputs
 * @param weights the weights of a model with a budget
 * @param rewriting of the model, if it may be rewritten
 */
record TorchHandle(
        TorchMemory memory,
        InputLimit limit,
        Optional<StreamedWeights> weights,
        Optional<ModelRewriting> rewriting)
        implements ModelHandle {

    @Override
    public PlanReport get() {
        Optional<DelegationReport> choice = rewriting.flatMap(ModelRewriting::report);
        return choice.isPresent()
                ? PlanReportRecord.rewritten(memory.report(), choice.get())
                : memory.report();
    }

    @Override
    public Optional<InputLimit> inputLimit() {
        return Optional.of(limit);
    }

    @Override
    public OptionalLong bytes(List<ArrayType> inputs) {
        return memory.expectedBytes(inputs);
    }

    @Override
    public Optional<EvaluatedPlan> allocations() {
        return memory.largest();
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
