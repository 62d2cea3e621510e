package org.djlplan.study;

import java.util.stream.Stream;
import org.djlplan.memplan.internal.config.Nearest;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.plan.greedy.GreedyByBreadth;
import org.djlplan.memplan.internal.plan.greedy.GreedyBySize;
import org.djlplan.memplan.internal.plan.greedy.Naive;
import org.djlplan.memplan.internal.plan.greedy.RepeatedGreedy;
import org.djlplan.memplan.internal.plan.portfolio.Portfolio;
import org.djlplan.study.criticalfirst.CriticalFirst;
import org.djlplan.study.greedy.GreedyInOrder;
import org.djlplan.study.greedy.TfliteArena;
import org.djlplan.study.search.ExactSearch;
import org.djlplan.study.shared.EndToEnd;
import org.djlplan.study.shared.SharedStrategies;
import org.djlplan.study.strippacking.BestFit;
import org.djlplan.study.strippacking.LongestFirst;
import org.djlplan.study.strippacking.PathCover;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/** The offset strategies by name: those that run in applications, and others for comparison. */
public final class Strategies {

    /** The name for running {@link Portfolio#STRATEGIES} and using the best plan. */
    public static final String BEST = "best";

    private static final ImmutableList<OffsetStrategy> OFFSETS =
            ImmutableList.of(
                    new GreedyBySize(),
                    new GreedyByBreadth(),
                    new RepeatedGreedy(),
                    new BestFit(),
                    new CriticalFirst(),
                    new PathCover(),
                    new TfliteArena(),
                    new GreedyInOrder(),
                    new LongestFirst(),
                    new Naive());

    private static final ImmutableList<OffsetStrategy> ALL =
            Stream.concat(OFFSETS.stream(), SharedStrategies.all().stream().map(EndToEnd::new))
                    .collect(ImmutableList.toImmutableList());

    /** Left out of {@link #ALL}, because it is slow. */
    private static final OffsetStrategy SEARCH = new ExactSearch();

    private Strategies() {}

    /** Returns every name that {@link #named} accepts. */
    public static ImmutableSet<String> names() {
        ImmutableSet.Builder<String> names = ImmutableSet.builder();
        ALL.forEach(strategy -> names.add(strategy.name()));
        return names.add(SEARCH.name()).add(BEST).build();
    }

    /** Returns the strategies made for one arena, in order of preference for equal plans. */
    public static ImmutableList<OffsetStrategy> offsets() {
        return OFFSETS;
    }

    /**
     * Returns every offset strategy except the exact search: {@link #offsets}, and then those that
     * lay shared objects end to end.
     */
    public static ImmutableList<OffsetStrategy> all() {
        return ALL;
    }

    /**
     * Returns the strategies of a name, in order of preference: one, or several for {@link #BEST}.
     *
     * @throws IllegalArgumentException if there is no such strategy; the message names the nearest
     *     name
     */
    public static ImmutableList<OffsetStrategy> named(String name) {
        if (name.equals(BEST)) {
            return Portfolio.STRATEGIES;
        }
        return Stream.concat(ALL.stream(), Stream.of(SEARCH))
                .filter(strategy -> strategy.name().equals(name))
                .findFirst()
                .map(ImmutableList::of)
                .orElseThrow(
                        () ->
                                new IllegalArgumentException(
                                        "no strategy '%s'; did you mean '%s'?"
                                                .formatted(name, Nearest.of(name, names()))));
    }
}
