package org.djlplan.integration.support;

import java.util.Optional;
import org.djlplan.memplan.internal.serving.BudgetedKernels;
import org.djlplan.memplan.internal.serving.BudgetedModel;
import org.djlplan.memplan.internal.serving.ServedDelegation;

/**
 * The delegation of a model whose budget never has room for all of it.
 *
 * @param streamed which operators a delegate runs
 */
public record StreamedOnly(Optional<BudgetedKernels> streamed)
        implements BudgetedModel.Delegations {

    @Override
    public Optional<ServedDelegation> whole(long budgetBytes) {
        throw new AssertionError("there is no room for all");
    }
}
