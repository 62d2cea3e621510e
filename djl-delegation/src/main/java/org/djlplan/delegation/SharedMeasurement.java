package org.djlplan.delegation;

import java.io.IOException;
import java.util.Optional;
import java.util.function.Consumer;
import org.djlplan.delegation.Measurement.UnmeasurableException;
import org.djlplan.delegation.SharedTable.Look;
import org.djlplan.delegation.table.ProfileTable;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.DelegableModel.Urgency;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.store.Lease;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A step towards the table that machines share: it is taken from their store, or measured here
 * while this machine has the lease. Where neither can be, whoever waits in the background looks
 * again later.
 */
final class SharedMeasurement {

    private static final Logger logger = LoggerFactory.getLogger(SharedMeasurement.class);

    private final Measurement measurement;
    private final Request request;
    private final SharedTable shared;

    SharedMeasurement(Measurement measurement, Request request, SharedTable shared) {
        this.measurement = measurement;
        this.request = request;
        this.shared = shared;
    }

    /**
     * Looks, and measures if that is for this machine.
     *
     * @return empty if there is nothing yet
     * @throws UnmeasurableException if somebody waits, and nothing can be had here and now
     */
    Optional<DelegationChoice> attempt(
            long patienceNanos, Urgency urgency, Consumer<DelegationChoice> verified)
            throws IOException, InterruptedException, UnmeasurableException {
        Optional<UnmeasurableException> obstacle = obstacle();
        Look look = shared.look(obstacle.isEmpty());
        if (look instanceof Look.Found found) {
            return confirmed(found.table());
        }
        if (look instanceof Look.Ours ours) {
            try {
                return measured(ours.lease(), patienceNanos, urgency, verified);
            } catch (UnmeasurableException e) {
                measurement.giveUp(e);
                if (urgency == Urgency.AWAITED) {
                    throw e;
                }
                DelegationChoice unused = measurement.unmeasured(e);
                return Optional.empty();
            }
        }
        if (urgency == Urgency.AWAITED) {
            if (obstacle.isPresent()) {
                throw obstacle.get();
            }
            if (shared.isFailing()) {
                throw new UnmeasurableException(shared + " does not work");
            }
        }
        return Optional.empty();
    }

    private Optional<UnmeasurableException> obstacle() {
        try {
            measurement.requireMeasurable();
            return Optional.empty();
        } catch (UnmeasurableException e) {
            return Optional.of(e);
        }
    }

    /** The delegate is asked before it serves: a store may have anything. */
    private Optional<DelegationChoice> confirmed(ProfileTable table) {
        try {
            if (measurement.tables().confirms(table)) {
                measurement.tables().keepFound(table);
                return Optional.of(measurement.stored(table));
            }
            logger.warn(
                    "What {} has of {} is not of this delegate's partitions and is not used",
                    shared,
                    request.model().file());
        } catch (CandidateException e) {
            logger.debug("{}: the delegate cannot be asked", request.model().file(), e);
        }
        return Optional.empty();
    }

    private Optional<DelegationChoice> measured(
            Lease lease, long patienceNanos, Urgency urgency, Consumer<DelegationChoice> verified)
            throws IOException, InterruptedException, UnmeasurableException {
        LeaseKeeper keeper = new LeaseKeeper(lease);
        Optional<ProfileTable> table = Optional.empty();
        try {
            table = measurement.measured(patienceNanos, urgency, verified);
        } catch (InterruptedException e) {
            if (!keeper.stop()) {
                throw e;
            }
            logger.info("{} may be measured by another machine now", request.model().file());
        } catch (RuntimeException | LinkageError e) {
            logger.warn("{} could not be measured", request.model().file(), e);
            throw new UnmeasurableException("measuring it failed: " + e);
        } finally {
            boolean unused = keeper.stop();
            if (table.isEmpty()) {
                keeper.release();
            }
        }
        if (table.isEmpty()) {
            return Optional.empty();
        }
        ProfileTable agreed = shared.publish(table.get(), lease);
        return agreed.equals(table.get())
                ? Optional.of(request.choice(agreed, DelegationChoice.Origin.MEASURED))
                : confirmed(agreed);
    }
}
