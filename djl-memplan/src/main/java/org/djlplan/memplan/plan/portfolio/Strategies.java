package org.djlplan.memplan.plan.portfolio;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import org.djlplan.memplan.config.Nearest;
import org.djlplan.memplan.plan.OffsetStrategy;
import org.djlplan.memplan.plan.greedy.GreedyByBreadth;
import org.djlplan.memplan.plan.greedy.GreedyBySize;
import org.djlplan.memplan.plan.greedy.Naive;
import org.djlplan.memplan.plan.scale.CriticalFirst;

/** The strategies by name. */
public final class Strategies {

    /** The name that stands for all strategies, of which the best plan is kept. */
    public static final String BEST = "best";

    /** In order of preference when plans are equally small. */
    private static final ImmutableList<OffsetStrategy> ALL =
            ImmutableList.of(
                    new GreedyBySize(), new GreedyByBreadth(), new CriticalFirst(), new Naive());

    private Strategies() {}

    /** Returns every name that {@link #named} knows. */
    public static ImmutableSet<String> names() {
        ImmutableSet.Builder<String> names = ImmutableSet.builder();
        ALL.forEach(strategy -> names.add(strategy.name()));
        return names.add(BEST).build();
    }

    /**
     * Returns the strategies that a name stands for, in order of preference: one, or all for {@link
     * #BEST}.
     *
     * @throws IllegalArgumentException if there is none; the message names the nearest name
     */
    public static ImmutableList<OffsetStrategy> named(String name) {
        if (name.equals(BEST)) {
            return ALL;
        }
        return ALL.stream()
                .filter(strategy -> strategy.name().equals(name))
                .findFirst()
                .map(ImmutableList::of)
                .orElseThrow(
                        () ->
                                new IllegalArgumentException(
                                        "no strategy '"
                                                + name
                                                + "'; did you mean '"
                                                + Nearest.of(name, names())
                                                + "'?"));
    }
}
