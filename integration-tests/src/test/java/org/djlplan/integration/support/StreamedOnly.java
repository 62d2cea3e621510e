package org.djlplan.integration.support;

import java.util.Optional;
import org.djlplan.memplan.internal.serving.BudgetedKernels;
import org.djlplan.memplan.internal.serving.BudgetedModel;
import org.djlplan.memplan.internal.serving.ServedDelegation;

/**
 * The delegation of a model whose budget never has room for the whole model.
 *
 * @param streamed the operators that a delegate runs
 */
public record StreamedOnly(Optional<BudgetedKernels> streamed)
        implements BudgetedModel.Delegations {

    @Override
    public Optional<ServedDelegation> whole(long budgetBytes) {
        throw new AssertionError("there is no room for all");
    }
}
