package org.djlplan.delegation;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.Iterables;
import java.time.Duration;
import java.util.List;
import java.util.SortedSet;
import org.djlplan.delegation.profile.ProfileSettings;
import org.djlplan.delegation.table.Goal;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.UnusableOptionException;

/**
 * What is to be chosen for a model.
 *
 * @param model the model
 * @param goal what the choice is to reach
 * @param threads the numbers of threads to choose from, in ascending order
 * @param budget how long measuring may take
 * @param tolerance the largest error of a candidate's outputs
 * @param excluded operators of which the model's delegate is not offered anything
 */
record Request(
        DelegableModel model,
        Goal goal,
        List<Integer> threads,
        Duration budget,
        double tolerance,
        SortedSet<Integer> excluded) {

    Request {
        threads = ImmutableList.copyOf(threads);
    }

    /**
     * Returns what options ask for.
     *
     * @throws UnusableOptionException if they name what the model does not have
     */
    static Request of(DelegableModel model, DelegationOptions options) {
        SortedSet<Integer> excluded = options.exclude().of(model.graph(), model::numberInFile);
        return new Request(
                ReducedModel.of(model, excluded),
                options.goal(),
                options.threads()
                        .candidates(model.threads(), Runtime.getRuntime().availableProcessors()),
                options.profileBudget(),
                options.tolerance(),
                excluded);
    }

    /** Returns what is to be found by measuring. */
    ProfileSettings settings(boolean exhaustive) {
        return new ProfileSettings(goal, threads, budget, tolerance, exhaustive);
    }

    /** Returns how many threads to use as long as no other number was measured to be better. */
    int unmeasuredThreads() {
        return Iterables.getLast(threads);
    }
}
