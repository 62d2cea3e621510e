package org.djlplan.delegation.internal.profile;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.choice.Request.Goal.Objective;
import org.djlplan.memplan.spi.Tolerance;

/** Profiles chains of partitions on a simulated machine. */
abstract class ProfilerTests {

    static final double MILLI = 1e6;
    static final long MB = 1_000_000;
    static final Goal LATENCY = new Goal(Objective.LATENCY, OptionalLong.empty());
    static final Goal BALANCED = new Goal(Objective.BALANCED, OptionalLong.empty());

    /** Asks for the least latency within a limit of memory. */
    static Goal within(long megabytes) {
        return new Goal(Objective.LATENCY, OptionalLong.of(megabytes * MB));
    }

    /**
     * Returns three partitions of 10, 5 and 20 ms on the CPU, and of the given times in the
     * delegate.
     */
    static ChainTruth truth(double first, double second, double third) {
        ChainTruth truth = new ChainTruth(1, 1, 1);
        double[] cpu = {10, 5, 20};
        double[] delegate = {first, second, third};
        for (int p = 0; p < 3; p++) {
            truth.cpuNanos[2 * p] = MILLI * cpu[p];
            truth.delegateNanos[2 * p] = MILLI * delegate[p];
            truth.operatorBytes[2 * p] = 4 * MB * (p + 1);
        }
        truth.cpuBytes = 10 * MB;
        truth.kernelBytes = MB;
        return truth;
    }

    static SimulatedRunner runner(Truth truth) {
        return new SimulatedRunner(truth, 0.01, 5);
    }

    static Request request(SimulatedRunner runner, Goal goal, Duration budget, Integer... threads) {
        return new Request(
                runner.graph(), goal, List.of(threads), Optional.of(budget), Tolerance.AUTO);
    }

    static ProfileTable profile(SimulatedRunner runner, Request request)
            throws InterruptedException {
        return Profiler.profile(request, runner, Optional.empty(), early -> {}, runner::nowNanos);
    }

    static ProfileTable profile(SimulatedRunner runner, Goal goal) throws InterruptedException {
        return profile(runner, request(runner, goal, Duration.ofHours(1), 1));
    }

    static ProfileTable profile(Truth truth, Goal goal) throws InterruptedException {
        return profile(runner(truth), goal);
    }

    /** Profiles with a delegate that can build its buffers for each prediction. */
    static ProfileTable profileTransient(SimulatedRunner runner, Goal goal, Integer... threads)
            throws InterruptedException {
        return profile(
                runner,
                new Request(
                        runner.graph(),
                        goal,
                        List.of(threads),
                        Optional.of(Duration.ofHours(1)),
                        Tolerance.AUTO,
                        true,
                        Set.of(),
                        List.of()));
    }
}
