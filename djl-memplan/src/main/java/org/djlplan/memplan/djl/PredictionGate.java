package org.djlplan.memplan.djl;

import java.util.concurrent.Semaphore;
import org.djlplan.memplan.runtime.HeapTrimmer;

/**
 * Lets some predictions of a model be under way at once, with their pre- and post-processing;
 * others wait, first come, first served. What translators allocate is in memory then for as many
 * predictions only.
 */
final class PredictionGate {

    private final Semaphore places;

    /**
     * @param predictions how many may be under way
     */
    PredictionGate(int predictions) {
        places = new Semaphore(predictions, true);
    }

    /** Waits for a place; a thread that is interrupted meanwhile stays so. */
    void enter() {
        places.acquireUninterruptibly();
    }

    /** Gives the place back. */
    void leave() {
        places.release();
        HeapTrimmer.touch();
    }
}
