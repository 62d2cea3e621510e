package org.djlplan.delegation.internal;

import ai.djl.util.Progress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Predicate;
import org.djlplan.delegation.internal.Background.Patience;
import org.djlplan.delegation.internal.Measurement.UnmeasurableException;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.delegation.internal.profile.Profiler;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.Precision;

/**
 * A measurement on the user's request: the measurement that a load of the model with the same
 * options would start, but made even if a result is stored.
 */
public final class Tuning {

    private final Request request;
    private final Measurement measurement;

    private Tuning(DelegableModel model, Request request, Optional<Progress> progress) {
        this.request = request;
        measurement = new Measurement(model, request, Profiler::profile, progress, new Machine());
    }

    /**
     * Returns the measurement of a model, without starting it.
     *
     * @param options with which the model will be loaded
     * @param progress receives the progress
     */
    public static Tuning of(
            DelegableModel model, DelegationOptions options, Optional<Progress> progress) {
        return new Tuning(model, options.request(model), progress);
    }

    /**
     * Measures stock and a lower precision, and stores nothing.
     *
     * @param options without a lower precision
     * @param precision that users could permit
     * @return the measurements; empty if another process has been measuring for a long time
     * @throws IOException if no measuring process can be started
     */
    public static Optional<ProfileTable> tryOut(
            DelegableModel model, DelegationOptions options, Precision precision)
            throws IOException, InterruptedException {
        return new Tuning(model, options.request(model).only(precision), Optional.empty())
                .measure(table -> false);
    }

    /** Returns the key of the table. */
    public StoreKey key() {
        return measurement.key();
    }

    /**
     * Measures, and replaces the stored table. Waits while another process measures the same.
     *
     * @param keep whether to store a table
     * @return the measurements; empty if another process has been measuring for a long time
     * @throws IOException if no measuring process can be started
     * @throws InterruptedException if the thread was interrupted; nothing is stored then
     */
    public Optional<ProfileTable> measure(Predicate<ProfileTable> keep)
            throws IOException, InterruptedException {
        try {
            return Patience.DEFAULT.untilDone(
                    request.longest(), leftNanos -> measurement.renew(leftNanos, keep));
        } catch (UnmeasurableException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    /**
     * Writes a table into a folder for {@code delegation.profileFrom}.
     *
     * @throws IOException if the folder does not exist or is not writable
     */
    public void copyTo(Path folder, ProfileTable table) throws IOException {
        measurement.tables().copyTo(folder, table);
    }
}
