package org.djlplan.delegation;

import ai.djl.util.Progress;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.DelegationProvider;

/** Delegates nothing: every operator runs in the engine's CPU kernels, as in the stock engine. */
public final class CpuOnly implements DelegationProvider {

    @Override
    public Set<String> optionKeys() {
        return Set.of("delegation.enabled");
    }

    @Override
    public void check(Map<String, String> options) {}

    @Override
    public Choosing choose(
            DelegableModel model,
            Map<String, String> options,
            Optional<Progress> progress,
            Consumer<DelegationChoice> better) {
        DelegationChoice choice =
                new DelegationChoice(
                        Candidate.cpu(model.threads()),
                        DelegationChoice.Origin.PREDICTED,
                        "nothing is delegated");
        return new Choosing() {
            @Override
            public DelegationChoice first() {
                return choice;
            }

            @Override
            public void close() {}
        };
    }
}
