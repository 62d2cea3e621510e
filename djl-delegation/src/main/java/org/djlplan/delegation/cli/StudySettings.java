package org.djlplan.delegation.cli;

import static com.google.common.base.Preconditions.checkArgument;

import java.time.Duration;
import org.djlplan.memplan.spi.Tolerance;

/**
 * How a study measures.
 *
 * @param threads per prediction, −1 for the engine's default
 * @param budget after how much time no more sets are begun
 * @param rounds how many turns each set gets
 * @param usualBudget of the usual run that the sets are compared with
 * @param tolerance by which outputs are judged
 */
record StudySettings(
        int threads, Duration budget, int rounds, Duration usualBudget, Tolerance tolerance) {

    StudySettings {
        checkArgument(rounds > 0, "rounds: %s", rounds);
    }
}
