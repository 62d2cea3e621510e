package org.djlplan.delegation.internal;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.djlplan.delegation.internal.table.ProfileTable;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.UnusableOptionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The choice of a pinned job, which stays while the job runs: the first stored table that matches
 * the delegate's partitions, with one number of threads.
 */
final class Pinned {

    private static final Logger logger = LoggerFactory.getLogger(Pinned.class);

    private final Request request;
    private final DelegationOptions options;
    private final KeptTables tables;

    Pinned(Request request, DelegationOptions options, KeptTables tables) {
        this.request = request;
        this.options = options;
        this.tables = tables;
    }

    /**
     * Returns the stored choice, or the CPU kernels if those are wanted otherwise.
     *
     * @return empty if the model must be measured
     * @throws UnusableOptionException if nothing is stored and that is an error, or a named file
     *     cannot be read
     */
    Optional<DelegationChoice> choice() {
        Optional<ProfileTable> table =
                options.profileFrom().flatMap(this::in).filter(this::isConfirmed);
        if (table.isEmpty()) {
            table = tables.besideModel().filter(this::isConfirmed);
        }
        if (table.isPresent()) {
            return table.map(request::pinned);
        }
        return switch (options.onMissing()) {
            case FAIL -> throw new UnusableOptionException(missing());
            case CPU -> Optional.of(request.cpu("no result is stored for this hardware"));
            case MEASURE -> Optional.empty();
        };
    }

    private Optional<ProfileTable> in(Path location) {
        try {
            return tables.in(location);
        } catch (IOException e) {
            throw new UnusableOptionException(
                    "%s=%s: it cannot be read (%s)"
                            .formatted(DelegationKey.PROFILE_FROM.key(), location, e));
        }
    }

    private boolean isConfirmed(ProfileTable table) {
        try {
            if (tables.confirms(table)) {
                return true;
            }
            logger.warn(
                    "The stored result of {} does not match this delegate's partitions and "
                            + "is not used",
                    request.model().file());
            return false;
        } catch (CandidateException | RuntimeException | LinkageError e) {
            logger.warn(
                    "{}: the delegate cannot report its partitions, so the stored result is"
                            + " not used: {}",
                    request.model().file(),
                    e.toString());
            return false;
        }
    }

    private String missing() {
        List<String> places = new ArrayList<>();
        options.profileFrom().ifPresent(from -> places.add(from.toString()));
        places.add(request.model().file().resolveSibling(".djlplan").toString());
        return ("%s=fail: no result of %s is stored for %s; searched %s. `djlplan tune "
                        + "--into=FOLDER %s`, with the options of this load, makes it on a "
                        + "machine of the same kind")
                .formatted(
                        DelegationKey.ON_MISSING.key(),
                        tables.key().model(),
                        tables.key().facts(),
                        String.join(", ", places),
                        tables.key().model());
    }
}
