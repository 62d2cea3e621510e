package org.djlplan.memplan.plan.shared;

import com.google.common.collect.ImmutableList;
import org.djlplan.memplan.plan.SharedObjectsStrategy;

/** The strategies of this package. */
public final class SharedStrategies {

    /** Those that need no search, in order of preference when plans are equally small. */
    static final ImmutableList<SharedObjectsStrategy> WITHOUT_SEARCH =
            ImmutableList.of(
                    new GreedyBySizeImproved(),
                    new GreedyBySize(),
                    new GreedyByBreadth(),
                    new GreedyInOrder(),
                    new MinCostFlow(),
                    new EqualitySizes(),
                    new Naive());

    private SharedStrategies() {}

    /** Returns all, in order of preference when plans are equally small. */
    public static ImmutableList<SharedObjectsStrategy> all() {
        return ImmutableList.<SharedObjectsStrategy>builder()
                .addAll(WITHOUT_SEARCH)
                .add(new OptimalObjects())
                .build();
    }
}
