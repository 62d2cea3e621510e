package org.djlplan.memplan.internal.djl;

import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.LongSupplier;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.config.Budget;
import org.djlplan.memplan.internal.config.BudgetResolver;
import org.djlplan.memplan.internal.plan.EvaluatedPlan;
import org.djlplan.memplan.internal.plan.MemoryPlanner;
import org.djlplan.memplan.internal.runtime.ort.OrtMemory;
import org.djlplan.memplan.report.PlanReport;

/**
 * The handle of an ONNX Runtime model. It is always ready, because nothing is planned.
 *
 * @param limit the limit on the sizes of inputs
 * @param verification whether the model runs as stock because its outputs differed
 */
record OrtHandle(OrtMemory memory, InputLimit limit, VerifiedForward.Status verification)
        implements ModelHandle {

    @Override
    public boolean hasBudget() {
        return memory.hasBudget();
    }

    @Override
    public void setBudget(Budget budget) throws BudgetTooSmallException {
        if (!hasBudget()) {
            throw new IllegalStateException("loaded without a budget");
        }
        memory.setBudget(budget(budget, memory.modelBytes()));
    }

    /**
     * Returns how many bytes a budget is.
     *
     * @param modelBytes that the weights and a prediction take
     */
    static LongSupplier budget(Budget budget, long modelBytes) {
        BudgetResolver resolver = BudgetedWeights.resolver(budget, modelBytes);
        return () -> resolver.bytes(modelBytes);
    }

    @Override
    public PlanReport get() {
        return verification.applied(memory.report());
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
    public OptionalLong weightsBytes() {
        return OptionalLong.of(memory.weightsBytes());
    }
}
