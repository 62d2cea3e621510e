package org.djlplan.integration.support;

import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.serving.ServedDelegation;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.DelegationChoice;

/**
 * A delegation whose choice never changes.
 *
 * @param sharesWorkspaces whether workspaces lie on the same pages as other models' workspaces
 * @param expectsOtherShapes whether predictions are expected to have other shapes than in the file
 */
record FixedDelegation(
        String name,
        DelegateFactory delegates,
        DelegationChoice choice,
        boolean sharesWorkspaces,
        boolean expectsOtherShapes)
        implements ServedDelegation {

    @Override
    public String engine() {
        return "TFLite";
    }

    @Override
    public DelegationChoice first(Graph graph, String identity) {
        return choice;
    }
}
