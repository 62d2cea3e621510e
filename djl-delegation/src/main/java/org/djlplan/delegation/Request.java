package org.djlplan.delegation;

import com.google.common.collect.ImmutableList;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.djlplan.delegation.profile.ProfileSettings;
import org.djlplan.delegation.table.Goal;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.Tolerance;

/**
 * What is to be chosen for a model.
 *
 * @param model the model
 * @param goal what the choice is to reach
 * @param threads the numbers of threads to choose from, in ascending order
 * @param budget how long measuring may take; empty for as long as the model's latency asks for
 * @param tolerance by which outputs are judged
 */
record Request(
        DelegableModel model,
        Goal goal,
        List<Integer> threads,
        Optional<Duration> budget,
        Tolerance tolerance) {

    /** Of a budget that depends on the model it is not known how long it is. */
    private static final Duration LONG = Duration.ofSeconds(30);

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

    /** Returns how long measuring will take at most, or about that. */
    Duration longest() {
        return budget.orElse(LONG);
    }

    /** Returns the CPU kernels as they run without delegation: as long as nothing was measured. */
    Candidate unmeasured() {
        return Candidate.cpu(threads.size() == 1 ? threads.get(0) : -1);
    }
}
