package org.djlplan.memplan.internal.store;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.Map;
import org.djlplan.memplan.internal.machine.CpuFeatures;
import org.djlplan.memplan.spi.Precision;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedMap;

/**
 * The facts that a stored value depends on. A value is used only if all of them match.
 *
 * @param model the model's name, to make file names readable
 * @param facts by name: the graph's structure, input types, engine and native version, threads, CPU
 */
public record StoreKey(String model, Map<String, String> facts) {

    public StoreKey {
        checkArgument(!model.isEmpty(), "a model without a name");
        facts = ImmutableSortedMap.copyOf(facts);
    }

    /**
     * Returns the facts that measured candidates depend on: this machine, and the rule of
     * acceptance.
     */
    public static Map<String, String> measuring(Tolerance tolerance) {
        ImmutableMap.Builder<String, String> facts = ImmutableMap.builder();
        facts.put("cpu", CpuFeatures.current());
        facts.put("tolerance", tolerance.with(Precision.FLOAT32).toString());
        facts.put("rule", Integer.toString(Tolerance.VERSION));
        if (tolerance.precision().isLower()) {
            facts.put("precision", tolerance.precision().toString());
        }
        return facts.buildOrThrow();
    }

    /** Written out as {@link org.djlplan.memplan.spi.Candidate#equals} is. */
    @Override
    public boolean equals(Object other) {
        return other instanceof StoreKey key && model.equals(key.model) && facts.equals(key.facts);
    }

    @Override
    public int hashCode() {
        return 31 * model.hashCode() + facts.hashCode();
    }
}
