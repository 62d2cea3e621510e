package org.djlplan.memplan.runtime.torch;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

/** What happened to the predictions of a model. */
final class Tally {

    final LongAdder predictions = new LongAdder();
    final LongAdder unplannedPredictions = new LongAdder();
    final LongAdder unplannedAllocations = new LongAdder();
    final LongAdder recordings = new LongAdder();

    /** Whether a plan was told of: those of other input types are told to who debugs. */
    final AtomicBoolean told = new AtomicBoolean();
}
