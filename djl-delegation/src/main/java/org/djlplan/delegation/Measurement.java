package org.djlplan.delegation;

import ai.djl.util.Progress;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.djlplan.delegation.store.ProfileKeys;
import org.djlplan.delegation.store.ProfileStore;
import org.djlplan.delegation.store.Wanted;
import org.djlplan.delegation.table.Entry;
import org.djlplan.delegation.table.ProfileTable;
import org.djlplan.delegation.table.Tolerance;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.store.FolderStore;
import org.djlplan.memplan.store.StoreKey;
import org.djlplan.memplan.store.StoreLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The table of measurements of one request: found where it is kept, or measured and kept. */
final class Measurement {

    private static final Logger logger = LoggerFactory.getLogger(Measurement.class);

    /** Two models that are measured at once would disturb each other. */
    private static final Semaphore QUIET = new Semaphore(1, true);

    private final Request request;
    private final Profiling profiling;
    private final Optional<Progress> progress;
    private final FolderStore<ProfileTable> store;
    private final StoreKey key;

    /**
     * @throws IOException if the model's file cannot be read
     */
    Measurement(Request request, Profiling profiling, Optional<Progress> progress)
            throws IOException {
        this.request = request;
        this.profiling = profiling;
        this.progress = progress;
        store =
                ProfileStore.of(
                        request.model(),
                        new Wanted(
                                request.threads(),
                                request.goal(),
                                new Tolerance(request.tolerance())));
        key =
                ProfileKeys.of(
                        request.model(), request.goal(), request.threads(), request.tolerance());
    }

    /** Returns where the table is kept. */
    StoreKey key() {
        return key;
    }

    /** Returns the table that is kept, if there is one. */
    Optional<ProfileTable> kept() {
        return store.load(key);
    }

    /** Returns the choice that is kept, if there is one. */
    Optional<DelegationChoice> stored() {
        return kept().map(table -> choice(table, DelegationChoice.Origin.STORED));
    }

    /**
     * Measures, unless the table is there by now.
     *
     * @param patienceNanos how long to wait for this JVM's measuring of other models
     * @return empty if another JVM is at it, or this one is busy for longer
     * @throws IOException if there is no process to run candidates in
     * @throws InterruptedException if the thread was interrupted; nothing is kept then
     */
    Optional<DelegationChoice> attempt(long patienceNanos)
            throws IOException, InterruptedException {
        return alone(
                patienceNanos,
                () -> {
                    Optional<DelegationChoice> stored = stored();
                    if (stored.isPresent()) {
                        return stored.get();
                    }
                    ProfileTable table = measure(all -> true);
                    return choice(table, DelegationChoice.Origin.MEASURED);
                });
    }

    /**
     * Measures, whether or not a table is there.
     *
     * @param patienceNanos how long to wait for this JVM's measuring of other models
     * @param keep whether a table is to replace the one that is there
     * @return empty if another JVM is at it, or this one is busy for longer
     * @throws IOException if there is no process to run candidates in
     * @throws InterruptedException if the thread was interrupted; nothing is kept then
     */
    Optional<ProfileTable> renew(long patienceNanos, Predicate<ProfileTable> keep)
            throws IOException, InterruptedException {
        return alone(patienceNanos, () -> measure(keep));
    }

    private interface Step<T> {
        T run() throws IOException, InterruptedException;
    }

    /** Runs a step while nobody else measures; empty if somebody does. */
    private <T> Optional<T> alone(long patienceNanos, Step<T> step)
            throws IOException, InterruptedException {
        if (!QUIET.tryAcquire(patienceNanos, TimeUnit.NANOSECONDS)) {
            return Optional.empty();
        }
        try {
            Optional<StoreLock> lock = store.tryLock(key);
            if (lock.isEmpty()) {
                return Optional.empty();
            }
            try {
                return Optional.of(step.run());
            } finally {
                lock.get().close();
            }
        } finally {
            QUIET.release();
        }
    }

    private ProfileTable measure(Predicate<ProfileTable> keep)
            throws IOException, InterruptedException {
        ProfileTable table;
        try (LearningRunner runner = new LearningRunner(runner(), request.model())) {
            table = profiling.profile(request, runner, progress);
            runner.keep();
        }
        if (keep.test(table)) {
            store.save(key, table);
        }
        warnOfUseless(table);
        return table;
    }

    /**
     * Returns one in a process of its own, or in this one if the delegate is known not to crash.
     */
    private CandidateRunner runner() throws IOException, InterruptedException {
        DelegableModel model = request.model();
        try {
            return model.newProcess();
        } catch (IOException e) {
            if (Thread.interrupted()) {
                // Cancelled while the process started, which is no reason to do without one.
                throw new InterruptedException();
            }
            if (!model.trusted()) {
                throw e;
            }
            logger.info("{} is measured in this process ({})", model.file(), e.toString());
            return model.inThisProcess();
        }
    }

    private void warnOfUseless(ProfileTable table) {
        List<Entry> useless =
                table.entries().stream().filter(e -> !(e instanceof Entry.Measured)).toList();
        if (!useless.isEmpty()) {
            logger.warn(
                    "{} of {} candidates of {} failed or computed something else and are not used;"
                            + " the first: {}",
                    useless.size(),
                    table.entries().size(),
                    request.model().file(),
                    describe(useless.get(0)));
        }
    }

    private static String describe(Entry entry) {
        int operators = entry.candidate().operators().size();
        return operators
                + " operators delegated: "
                + (entry instanceof Entry.Failed failed
                        ? failed.kind() + ", " + failed.message()
                        : "outputs outside the tolerance");
    }

    private static DelegationChoice choice(ProfileTable table, DelegationChoice.Origin origin) {
        return new DelegationChoice(table.chosen(), origin, table.reason());
    }
}
