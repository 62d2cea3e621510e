package org.djlplan.memplan.internal.plan.portfolio;

import java.util.ServiceLoader;
import org.djlplan.memplan.internal.config.Nearest;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.plan.criticalfirst.CriticalFirst;
import org.djlplan.memplan.internal.plan.greedy.GreedyByBreadth;
import org.djlplan.memplan.internal.plan.greedy.GreedyBySize;
import org.djlplan.memplan.internal.plan.greedy.GreedyInOrder;
import org.djlplan.memplan.internal.plan.greedy.Naive;
import org.djlplan.memplan.internal.plan.greedy.TfliteArena;
import org.djlplan.memplan.internal.plan.search.ExactSearch;
import org.djlplan.memplan.internal.plan.strippacking.BestFit;
import org.djlplan.memplan.internal.plan.strippacking.LongestFirst;
import org.djlplan.memplan.internal.plan.strippacking.PathCover;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/**
 * The strategies by name: those that run in applications, and further ones for comparison, found on
 * the class path by {@link ServiceLoader}. The further ones are loaded only if an unknown name, or
 * all names, are requested.
 */
public final class Strategies {

    /** The name for running several strategies and using the best plan. */
    public static final String BEST = "best";

    /**
     * The strategies of {@link #BEST}, in order of preference for equally small plans: quick and
     * often successful ones first, because planning stops once the lower bound is reached.
     */
    private static final ImmutableList<OffsetStrategy> OFFSETS =
            ImmutableList.of(
                    new GreedyBySize(),
                    new GreedyByBreadth(),
                    new BestFit(),
                    new CriticalFirst(),
                    new PathCover(),
                    new TfliteArena(),
                    new GreedyInOrder(),
                    new LongestFirst(),
                    new Naive());

    /** Never run by default, because it is slow. */
    private static final OffsetStrategy SEARCH = new ExactSearch();

    /**
     * The further strategies. This class is loaded at first use, so that no application searches
     * for services while it loads a model.
     */
    private static final class Further {
        private static final ImmutableList<OffsetStrategy> ALL =
                ImmutableList.copyOf(
                        ServiceLoader.load(
                                OffsetStrategy.class, Strategies.class.getClassLoader()));
    }

    private Strategies() {}

    /** Returns every name that {@link #named} accepts. */
    public static ImmutableSet<String> names() {
        ImmutableSet.Builder<String> names = ImmutableSet.builder();
        all().forEach(strategy -> names.add(strategy.name()));
        return names.add(SEARCH.name()).add(BEST).build();
    }

    /** Returns the strategies of {@link #BEST}, in order of preference. */
    public static ImmutableList<OffsetStrategy> offsets() {
        return OFFSETS;
    }

    /**
     * Returns every offset strategy except the exact search: {@link #offsets}, followed by those
     * for comparison on the class path.
     */
    public static ImmutableList<OffsetStrategy> all() {
        return ImmutableList.<OffsetStrategy>builder().addAll(OFFSETS).addAll(Further.ALL).build();
    }

    /**
     * Returns the strategies of a name, in order of preference: one, or several for {@link #BEST}.
     *
     * @throws IllegalArgumentException if there is no such strategy; the message names the nearest
     *     name
     */
    public static ImmutableList<OffsetStrategy> named(String name) {
        if (name.equals(BEST)) {
            return OFFSETS;
        }
        if (name.equals(SEARCH.name())) {
            return ImmutableList.of(SEARCH);
        }
        for (OffsetStrategy strategy : OFFSETS) {
            if (strategy.name().equals(name)) {
                return ImmutableList.of(strategy);
            }
        }
        for (OffsetStrategy strategy : Further.ALL) {
            if (strategy.name().equals(name)) {
                return ImmutableList.of(strategy);
            }
        }
        throw new IllegalArgumentException(
                "no strategy '" + name + "'; did you mean '" + Nearest.of(name, names()) + "'?");
    }
}
