package org.djlplan.memplan.spi;

import java.util.Map;
import java.util.Set;
import org.djlplan.memplan.graph.Graph;

/** Chooses which operators of a model go to the engine's delegate. Found by ServiceLoader. */
public interface DelegationProvider {

    /** Returns the option keys it knows, each starting with {@code "delegation."}. */
    Set<String> optionKeys();

    /**
     * Returns the indices of the operators to delegate; empty for none.
     *
     * @param graph the model as its file has it
     * @param options the options under {@link #optionKeys()} that were given
     */
    Set<Integer> choose(Graph graph, Map<String, String> options);
}
