package org.djlplan.delegation;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.Iterables;
import java.time.Duration;
import java.util.List;
import org.djlplan.delegation.profile.ProfileSettings;
import org.djlplan.delegation.table.Goal;
import org.djlplan.memplan.spi.DelegableModel;

/**
 * What is to be chosen for a model.
 *
 * @param model the model
 * @param goal what the choice is to reach
 * @param threads the numbers of threads to choose from, in ascending order
 * @param budget how long measuring may take
 * @param tolerance the largest error of a candidate's outputs
 */
record Request(
        DelegableModel model, Goal goal, List<Integer> threads, Duration budget, double tolerance) {

    Request {
        threads = ImmutableList.copyOf(threads);
    }

    static Request of(DelegableModel model, DelegationOptions options) {
        return new Request(
                model,
                options.goal(),
                options.threads()
                        .candidates(model.threads(), Runtime.getRuntime().availableProcessors()),
                options.profileBudget(),
                options.tolerance());
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
