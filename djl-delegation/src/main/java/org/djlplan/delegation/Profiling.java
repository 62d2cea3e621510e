package org.djlplan.delegation;

import ai.djl.util.Progress;
import java.util.Optional;
import org.djlplan.delegation.table.ProfileTable;
import org.djlplan.memplan.spi.CandidateRunner;

/** Measures candidates. */
@FunctionalInterface
interface Profiling {

    /** Returns what was measured; candidates that fail are entries of it. */
    ProfileTable profile(Request request, CandidateRunner runner, Optional<Progress> progress)
            throws InterruptedException;
}
