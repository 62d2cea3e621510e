package org.djlplan.delegation;

import java.util.Map;
import java.util.Set;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.spi.DelegationProvider;

/** Delegates nothing: every operator runs in the engine's CPU kernels, as in the stock engine. */
public final class CpuOnly implements DelegationProvider {

    @Override
    public Set<String> optionKeys() {
        return Set.of("delegation.enabled");
    }

    @Override
    public Set<Integer> choose(Graph graph, Map<String, String> options) {
        return Set.of();
    }
}
