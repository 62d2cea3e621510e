package org.djlplan.study.shared;

import java.util.Optional;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/** The shared-objects strategies by name. */
public final class SharedStrategies {

    /** The strategies without search, in order of preference for equally small plans. */
    static final ImmutableList<SharedObjectsStrategy> WITHOUT_SEARCH =
            ImmutableList.of(
                    new GreedyBySizeImproved(),
                    new GreedyBySize(),
                    new GreedyByBreadth(),
                    new GreedyInOrder(),
                    new MinCostFlow(),
                    new EqualitySizes(),
                    new Naive());

    private static final ImmutableList<SharedObjectsStrategy> ALL =
            ImmutableList.<SharedObjectsStrategy>builder()
                    .addAll(WITHOUT_SEARCH)
                    .add(new OptimalObjects())
                    .build();

    private SharedStrategies() {}

    /** Returns all strategies, in order of preference for equally small plans. */
    public static ImmutableList<SharedObjectsStrategy> all() {
        return ALL;
    }

    /** Returns the strategy with a name, or empty if there is none. */
    public static Optional<SharedObjectsStrategy> named(String name) {
        return ALL.stream().filter(strategy -> strategy.name().equals(name)).findFirst();
    }
}
