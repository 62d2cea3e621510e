package org.djlplan.memplan.runtime.torch;

import java.util.Optional;
import org.djlplan.memplan.source.trace.AllocationTrace;

/** What is watched of one prediction's allocations. Finished exactly once, after the pause. */
interface TorchRun {

    /**
     * Leaves this thread's allocations to the engine again.
     *
     * @return whether nothing that was placed is in use any more, so that it may be finished at
     *     once
     */
    boolean pause();

    /** Returns what was recorded up to now; empty if memory for it ran out. */
    Optional<AllocationTrace> recorded();

    /** Ends the run. If blocks are still in use, its arena is no longer the caller's to free. */
    RunOutcome finish();
}
