package org.djlplan.memplan.plan.portfolio;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import java.util.Optional;
import java.util.stream.Stream;
import org.djlplan.memplan.config.Nearest;
import org.djlplan.memplan.plan.OffsetStrategy;
import org.djlplan.memplan.plan.SharedObjectsStrategy;
import org.djlplan.memplan.plan.conflict.GreedyByConflicts;
import org.djlplan.memplan.plan.conflict.GreedyBySizeOverConflicts;
import org.djlplan.memplan.plan.conflict.TvmGreedyByConflicts;
import org.djlplan.memplan.plan.conflict.TvmGreedyBySize;
import org.djlplan.memplan.plan.greedy.GreedyByBreadth;
import org.djlplan.memplan.plan.greedy.GreedyBySize;
import org.djlplan.memplan.plan.greedy.GreedyInOrder;
import org.djlplan.memplan.plan.greedy.Naive;
import org.djlplan.memplan.plan.greedy.TfliteArena;
import org.djlplan.memplan.plan.scale.CriticalFirst;
import org.djlplan.memplan.plan.search.ExactSearch;
import org.djlplan.memplan.plan.shared.EndToEnd;
import org.djlplan.memplan.plan.shared.SharedStrategies;
import org.djlplan.memplan.plan.strip.BestFit;
import org.djlplan.memplan.plan.strip.LongestFirst;
import org.djlplan.memplan.plan.strip.PathCover;

/** The strategies by name. */
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

    /**
     * Those that plan problems with conflicts, too; in order of preference. The two with TVM's rule
     * of placing are hardly ever alone in having the smallest plan; they are here so that it is
     * never larger than theirs.
     */
    private static final ImmutableList<OffsetStrategy> OVER_CONFLICTS =
            ImmutableList.of(
                    new GreedyBySizeOverConflicts(),
                    new GreedyByConflicts(),
                    new TvmGreedyBySize(),
                    new TvmGreedyByConflicts(),
                    new Naive());

    private static final ImmutableList<SharedObjectsStrategy> SHARED_OBJECTS =
            SharedStrategies.all();

    private static final ImmutableList<OffsetStrategy> END_TO_END =
            SHARED_OBJECTS.stream().map(EndToEnd::new).collect(ImmutableList.toImmutableList());

    /** Never run unasked: it takes its time. */
    private static final OffsetStrategy SEARCH = new ExactSearch();

    private Strategies() {}

    /** Returns every name that {@link #named} knows. */
    public static ImmutableSet<String> names() {
        ImmutableSet.Builder<String> names = ImmutableSet.builder();
        all().forEach(strategy -> names.add(strategy.name()));
        return names.add(SEARCH.name()).add(BEST).build();
    }

    /** Returns the strategies for problems with conflicts, in order of preference. */
    public static ImmutableList<OffsetStrategy> overConflicts() {
        return OVER_CONFLICTS;
    }

    /**
     * Returns every strategy that calculates offsets itself but the exact search: what {@link
     * #BEST} stands for.
     */
    public static ImmutableList<OffsetStrategy> offsets() {
        return OFFSETS;
    }

    /**
     * Returns every offset strategy but the exact search: {@link #offsets}, and then every
     * shared-objects strategy with its objects end to end, which is for comparison.
     */
    public static ImmutableList<OffsetStrategy> all() {
        return ImmutableList.<OffsetStrategy>builder().addAll(OFFSETS).addAll(END_TO_END).build();
    }

    /** Returns every shared-objects strategy, in order of preference. */
    public static ImmutableList<SharedObjectsStrategy> sharedObjects() {
        return SHARED_OBJECTS;
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
        return Stream.concat(all().stream(), Stream.of(SEARCH))
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

    /** Returns the shared-objects strategy of a name, or empty if there is none. */
    public static Optional<SharedObjectsStrategy> namedSharedObjects(String name) {
        return SHARED_OBJECTS.stream().filter(strategy -> strategy.name().equals(name)).findFirst();
    }
}
