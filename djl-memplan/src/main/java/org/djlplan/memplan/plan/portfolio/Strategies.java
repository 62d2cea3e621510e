package org.djlplan.memplan.plan.portfolio;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import java.util.ServiceLoader;
import org.djlplan.memplan.config.Nearest;
import org.djlplan.memplan.plan.OffsetStrategy;
import org.djlplan.memplan.plan.criticalfirst.CriticalFirst;
import org.djlplan.memplan.plan.greedy.GreedyByBreadth;
import org.djlplan.memplan.plan.greedy.GreedyBySize;
import org.djlplan.memplan.plan.greedy.GreedyInOrder;
import org.djlplan.memplan.plan.greedy.Naive;
import org.djlplan.memplan.plan.greedy.TfliteArena;
import org.djlplan.memplan.plan.search.ExactSearch;
import org.djlplan.memplan.plan.strippacking.BestFit;
import org.djlplan.memplan.plan.strippacking.LongestFirst;
import org.djlplan.memplan.plan.strippacking.PathCover;

/**
 * The strategies by name: those that run in applications, and further ones that are on the class
 * path for comparison, found by {@link ServiceLoader}. The further ones are looked up only when a
 * name is asked for that is not among the first, or when all names are.
 */
public final class Strategies {

    /** The name that stands for several strategies, of which the best plan is kept. */
    public static final String BEST = "best";

    /**
     * What {@link #BEST} stands for, in order of preference when plans are equally small: quick
     * ones and those that win most often first, because nothing is planned any more once the lower
     * bound is reached.
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

    /** Never run unasked: it takes its time. */
    private static final OffsetStrategy SEARCH = new ExactSearch();

    /** Loaded when first asked for, so that no application looks for services at load. */
    private static final class Further {
        private static final ImmutableList<OffsetStrategy> ALL =
                ImmutableList.copyOf(
                        ServiceLoader.load(
                                OffsetStrategy.class, Strategies.class.getClassLoader()));
    }

    private Strategies() {}

    /** Returns every name that {@link #named} knows. */
    public static ImmutableSet<String> names() {
        ImmutableSet.Builder<String> names = ImmutableSet.builder();
        all().forEach(strategy -> names.add(strategy.name()));
        return names.add(SEARCH.name()).add(BEST).build();
    }

    /** Returns what {@link #BEST} stands for, in order of preference. */
    public static ImmutableList<OffsetStrategy> offsets() {
        return OFFSETS;
    }

    /**
     * Returns every offset strategy but the exact search: {@link #offsets}, and then those that are
     * on the class path for comparison.
     */
    public static ImmutableList<OffsetStrategy> all() {
        return ImmutableList.<OffsetStrategy>builder().addAll(OFFSETS).addAll(Further.ALL).build();
    }

    /**
     * Returns the strategies that a name stands for, in order of preference: one, or several for
     * {@link #BEST}.
     *
     * @throws IllegalArgumentException if there is none; the message names the nearest name
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
