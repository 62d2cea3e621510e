package org.djlplan.memplan.internal.djl;

import ai.djl.util.Progress;
import java.nio.file.Path;
import java.util.Optional;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.serving.BudgetedKernels;
import org.djlplan.memplan.internal.serving.BudgetedModel;
import org.djlplan.memplan.internal.serving.ServedDelegation;
import org.djlplan.memplan.internal.store.CacheFolder;
import org.djlplan.memplan.spi.DelegationProvider;

/**
 * Creates the delegation of one model, each time that the model is opened.
 *
 * @param file the model's file
 * @param options the model's options, with its number of threads
 * @param provider chooses the delegated operators; empty to delegate none
 * @param progress shows how much of the measurement is done
 */
record ModelDelegations(
        Path file,
        PlanOptions options,
        Optional<DelegationProvider> provider,
        Optional<Progress> progress)
        implements BudgetedModel.Delegations {

    @Override
    public Optional<ServedDelegation> whole(long budgetBytes) {
        PlanOptions effective = options.delegatingUnder(budgetBytes);
        return enabled().map(chooses -> new ModelDelegation(file, chooses, effective, progress));
    }

    /** Chooses in this process, and therefore only for a delegate that is part of the engine. */
    @Override
    public Optional<BudgetedKernels> streamed() {
        return enabled()
                .flatMap(chooses -> chooses.insideBudget(options.delegation()))
                .filter(terms -> options.delegate().equals(Delegates.XNNPACK))
                .map(
                        terms ->
                                new BudgetedKernels(
                                        options.delegate(),
                                        Delegates.named(options.delegate()),
                                        terms,
                                        CacheFolder.get()));
    }

    private Optional<DelegationProvider> enabled() {
        return provider.filter(any -> options.delegationEnabled());
    }
}
