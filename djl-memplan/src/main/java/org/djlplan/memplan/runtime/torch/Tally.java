package org.djlplan.memplan.runtime.torch;

import java.util.concurrent.atomic.LongAdder;

/** What happened to the predictions of a model. */
final class Tally {

    final LongAdder predictions = new LongAdder();
    final LongAdder unplannedPredictions = new LongAdder();
    final LongAdder unplannedAllocations = new LongAdder();
    final LongAdder recordings = new LongAdder();
}
