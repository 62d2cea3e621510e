package org.djlplan.delegation;

import ai.djl.util.Progress;
import java.util.Optional;
import java.util.function.Consumer;
import org.djlplan.delegation.profile.Profiler;
import org.djlplan.delegation.table.Entry;
import org.djlplan.delegation.table.ProfileTable;
import org.djlplan.memplan.spi.CandidateRunner;

/** Measures candidates. */
@FunctionalInterface
interface Profiling {

    /**
     * Returns what was measured; candidates that fail are entries of it.
     *
     * @param verified told what is right and clearly better, before the best is found
     */
    ProfileTable profile(
            Request request,
            CandidateRunner runner,
            Optional<Progress> progress,
            Consumer<Entry.Measured> verified)
            throws InterruptedException;

    /**
     * Returns the way that is always used.
     *
     * @param exhaustive whether to measure all unions of whole partitions instead of what promises
     *     to be good
     */
    static Profiling of(boolean exhaustive) {
        return (request, runner, progress, verified) ->
                Profiler.profile(
                        request.model().graph(),
                        runner,
                        request.settings(exhaustive),
                        progress,
                        verified);
    }
}
