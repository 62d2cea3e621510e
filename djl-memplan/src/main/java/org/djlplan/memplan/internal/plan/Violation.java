package org.djlplan.memplan.internal.plan;

import java.util.List;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A rule that a plan breaks, and the tensors that break it.
 *
 * @param rule the broken rule's name, in kebab case
 * @param tensors ids of the one or two tensors that break it
 * @param sentence a format of their names
 */
public record Violation(String rule, List<Integer> tensors, String sentence) {

    public Violation {
        tensors = ImmutableList.copyOf(tensors);
    }

    /**
     * Describes the violation in one sentence.
     *
     * @param names of {@link #tensors()}, in the same order
     */
    public String describe(List<String> names) {
        return sentence.formatted(names.toArray());
    }
}
