package org.djlplan.memplan.store;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableSortedMap;
import java.util.Map;

/**
 * The facts that a kept value depends on. It is used only where all of them are the same.
 *
 * @param model the model's name, for people who look into the folder
 * @param facts by name: the graph's structure, input types, engine and native version, threads, CPU
 */
public record StoreKey(String model, Map<String, String> facts) {

    public StoreKey {
        checkArgument(!model.isEmpty(), "a model without a name");
        facts = ImmutableSortedMap.copyOf(facts);
    }

    /** As every record's, but without what those link at their first use, which takes long. */
    @Override
    public boolean equals(Object other) {
        return other instanceof StoreKey key && model.equals(key.model) && facts.equals(key.facts);
    }

    @Override
    public int hashCode() {
        return 31 * model.hashCode() + facts.hashCode();
    }
}
