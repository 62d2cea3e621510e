package org.djlplan.memplan.store;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableSortedMap;
import java.util.Map;

/**
 * What a plan depends on. A plan is used only where all facts are the same.
 *
 * @param model the model's name, for people who look into the folder
 * @param facts by name: the graph's structure, input types, engine and native version, threads, CPU
 */
public record PlanKey(String model, Map<String, String> facts) {

    public PlanKey {
        checkArgument(!model.isEmpty(), "a model without a name");
        facts = ImmutableSortedMap.copyOf(facts);
    }
}
