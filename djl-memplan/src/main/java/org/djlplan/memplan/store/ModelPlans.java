package org.djlplan.memplan.store;

import com.google.common.collect.ImmutableMap;
import java.util.List;
import org.djlplan.memplan.graph.ArrayType;

/**
 * The plans of one model.
 *
 * @param store where they are kept
 * @param model the key that they have in common: without inputs and threads
 */
public record ModelPlans(Store<StoredPlan> store, StoreKey model) {

    /**
     * Returns the key of one plan.
     *
     * @param threads of the engine for an operator
     */
    public StoreKey key(List<ArrayType> inputs, int threads) {
        return new StoreKey(
                model.model(),
                ImmutableMap.<String, String>builder()
                        .putAll(model.facts())
                        .put("inputs", inputs.toString())
                        .put("threads", Integer.toString(threads))
                        .buildOrThrow());
    }
}
