package org.djlplan.memplan.cli;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.config.Nearest;
import org.djlplan.memplan.plan.OffsetStrategy;
import org.djlplan.memplan.plan.portfolio.Strategies;
import org.djlplan.memplan.plan.search.ExactSearch;
import org.djlplan.memplan.study.shared.EndToEnd;
import org.djlplan.memplan.study.shared.SharedObjectsStrategy;
import org.djlplan.memplan.study.shared.SharedStrategies;

/**
 * The strategies that a user of the plan command asked for.
 *
 * @param offsets those that lay everything out in one arena
 * @param sharedObjects those that give out buffers
 * @param bestOnly whether only the best plan is to be shown
 * @param search whether to search for a smaller plan than theirs
 */
record StrategyChoice(
        List<OffsetStrategy> offsets,
        List<SharedObjectsStrategy> sharedObjects,
        boolean bestOnly,
        boolean search) {

    /** The name that stands for every strategy. */
    static final String ALL = "all";

    StrategyChoice {
        offsets = ImmutableList.copyOf(offsets);
        sharedObjects = ImmutableList.copyOf(sharedObjects);
    }

    /**
     * Returns what a name stands for: {@link #ALL}, one strategy, or {@link Strategies#BEST}.
     *
     * @throws IllegalArgumentException if there is no such strategy; the message names the nearest
     */
    static StrategyChoice named(String name) {
        if (name.equals(ALL)) {
            return new StrategyChoice(Strategies.all(), SharedStrategies.all(), false, true);
        }
        Optional<SharedObjectsStrategy> shared = SharedStrategies.named(name);
        if (shared.isPresent()) {
            return new StrategyChoice(List.of(), List.of(shared.get()), false, false);
        }
        if (!Strategies.names().contains(name)) {
            throw new IllegalArgumentException(
                    "no strategy '%s'; did you mean '%s'?"
                            .formatted(name, Nearest.of(name, names())));
        }
        if (name.equals(new ExactSearch().name())) {
            return new StrategyChoice(Strategies.named(Strategies.BEST), List.of(), true, true);
        }
        return new StrategyChoice(
                Strategies.named(name), List.of(), name.equals(Strategies.BEST), false);
    }

    /** Returns the name by which one arena is planned: shared objects are laid end to end. */
    String arenaStrategy() {
        if (offsets.size() == 1) {
            return offsets.get(0).name();
        }
        return offsets.isEmpty() ? new EndToEnd(sharedObjects.get(0)).name() : Strategies.BEST;
    }

    private static ImmutableSet<String> names() {
        ImmutableSet.Builder<String> names = ImmutableSet.builder();
        SharedStrategies.all().forEach(strategy -> names.add(strategy.name()));
        return names.addAll(Strategies.names()).add(ALL).build();
    }
}
