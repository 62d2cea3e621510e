package org.djlplan.delegation.internal;

import ai.djl.util.Progress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.memplan.internal.store.FolderStore;
import org.djlplan.memplan.internal.store.Format;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.internal.store.StoreLock;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.DelegableModel.Urgency;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.NoRoomException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Provides the table of measurements for one request: loads the stored one, or measures and stores
 * it. A JVM measures one model at a time, and each model is measured by one JVM at a time.
 */
final class Measurement {

    private static final Logger logger = LoggerFactory.getLogger(Measurement.class);

    /** In the worst case a forged mark prevents measuring. */
    private static final Format<Mark> MARKS = new Format<>("measuring", 2, Mark.class);

    /** Two models that are measured at once would disturb each other. */
    private static final Semaphore QUIET = new Semaphore(1, true);

    /** Models for which the reason for not measuring was already logged. */
    private static final Set<Path> TOLD = ConcurrentHashMap.newKeySet();

    /** Limit of unexplained failures if no container limit can be the cause. */
    private static final int MOST_ATTEMPTS = 3;

    /** Denominator of the fraction of a container's memory that must stay free in addition. */
    private static final int SPARE_PART = 20;

    private final DelegableModel model;
    private final Request request;
    private final Profiling profiling;
    private final Optional<Progress> progress;
    private final Machine machine;
    private final ProfileStore tables;
    private final FolderStore<Mark> marks;

    /**
     * @param machine whose memory is checked
     */
    Measurement(
            DelegableModel model,
            Request request,
            Profiling profiling,
            Optional<Progress> progress,
            Machine machine) {
        this.model = model;
        this.request = request;
        this.profiling = profiling;
        this.progress = progress;
        this.machine = machine;
        tables = new ProfileStore(model, request);
        marks =
                FolderStore.at(
                        MARKS, model.file().toAbsolutePath().getParent(), model.cacheFolder());
    }

    /** Returns the model's file. */
    Path file() {
        return model.file();
    }

    /** Returns the stored tables. */
    ProfileStore tables() {
        return tables;
    }

    /**
     * Returns the key of the table.
     *
     * @throws UncheckedIOException as in {@link ProfileStore#key}
     */
    StoreKey key() {
        return tables.key();
    }

    /** Returns the table stored next to the model, if there is one. */
    Optional<ProfileTable> kept() {
        return tables.besideModel();
    }

    /** Makes the stored table, if there is one, choose the CPU kernels. */
    void withdraw(String why) {
        kept().ifPresent(table -> tables.keep(table.choosing(request.unmeasured(), why)));
    }

    /** Returns the choice of a stored table. */
    DelegationChoice stored(ProfileTable table) {
        return request.choice(table, DelegationReport.Origin.STORED);
    }

    /**
     * Checks that a measuring process may be started.
     *
     * @throws UnmeasurableException if none can be started, there is not enough memory for it, or
     *     earlier ones were killed in the same circumstances
     */
    void requireMeasurable() throws UnmeasurableException {
        Optional<String> obstacle = model.obstacle();
        if (obstacle.isPresent()) {
            throw new UnmeasurableException(obstacle.get());
        }
        Optional<Mark> mark = failedAttempts();
        if (mark.isPresent() && mark.get().attempts() >= mostAttempts()) {
            throw new UnmeasurableException(
                    "an earlier measurement was killed, as happens when a container runs "
                            + "out of memory; `djlplan tune` measures it anyway");
        }
        long needed = model.neededBytes() + machine.containerLimitBytes().orElse(0) / SPARE_PART;
        long free = machine.memoryRoom().freeBytes();
        if (free < needed) {
            throw new UnmeasurableException(
                    "%d MB of memory are left here, a process to measure in may need %d"
                            .formatted(free >> 20, needed >> 20));
        }
    }

    /** Returns the mark of attempts that were killed in the same circumstances. */
    private Optional<Mark> failedAttempts() {
        // The model is not read at each load for a mark that almost never exists.
        return marks.hasAny(ProfileStore.nameOf(model.file()))
                ? marks.load(key()).filter(mark -> mark.circumstances().equals(circumstances()))
                : Optional.empty();
    }

    private int mostAttempts() {
        return machine.containerLimitBytes().isPresent() ? 1 : MOST_ATTEMPTS;
    }

    private String circumstances() {
        String version = Measurement.class.getPackage().getImplementationVersion();
        OptionalLong limit = machine.containerLimitBytes();
        return "version %s, memory limit %s"
                .formatted(
                        version == null ? "unknown" : version,
                        limit.isPresent() ? Long.toString(limit.getAsLong()) : "none");
    }

    /** Returns the choice without measurements, and logs once why nothing is measured. */
    DelegationChoice unmeasured(UnmeasurableException why) {
        if (TOLD.add(model.file())) {
            logger.warn(
                    "{} is not measured and runs without delegation: {}",
                    model.file(),
                    why.getMessage());
        }
        return request.cpu(why.getMessage());
    }

    /**
     * Measures, unless a sufficient table exists by now.
     *
     * @param patienceNanos how long to wait while this JVM measures other models
     * @param verified receives a verified and clearly better set, before the best is found
     * @param sufficient whether a table is sufficient; another table stays unless the new one is
     *     better
     * @return empty if another JVM measures the model, or this one is busy for longer
     * @throws UnmeasurableException if measuring is impossible here
     * @throws InterruptedException if the thread was interrupted; nothing is stored then
     */
    Optional<DelegationChoice> attempt(
            long patienceNanos,
            Urgency urgency,
            Consumer<DelegationChoice> verified,
            Predicate<ProfileTable> sufficient)
            throws IOException, InterruptedException, UnmeasurableException {
        return runExclusively(
                patienceNanos,
                () -> {
                    Optional<ProfileTable> kept = kept();
                    if (kept.filter(sufficient).isPresent()) {
                        return stored(kept.get());
                    }
                    requireMeasurable();
                    // While the model is measured again, the stored choice serves.
                    Consumer<DelegationChoice> early = kept.isEmpty() ? verified : unused -> {};
                    ProfileTable table =
                            attemptMarked(
                                    urgency, early, t -> kept.isEmpty() || sufficient.test(t));
                    return kept.isPresent() && !sufficient.test(table)
                            ? stored(kept.get())
                            : request.choice(table, DelegationReport.Origin.MEASURED);
                });
    }

    /**
     * If this process or the one that measures is killed, the mark remains, so that not every later
     * start measures and is killed.
     */
    private ProfileTable attemptMarked(
            Urgency urgency, Consumer<DelegationChoice> verified, Predicate<ProfileTable> keep)
            throws InterruptedException, UnmeasurableException {
        int before = failedAttempts().map(Mark::attempts).orElse(0);
        try (Marking marking = new Marking()) {
            marking.save(before + 1);
            boolean killed = false;
            try {
                return measure(keep, urgency, verified);
            } catch (NoRoomException e) {
                killed = e.killed();
                throw new UnmeasurableException(e.getMessage());
            } catch (IOException e) {
                if (Thread.interrupted()) {
                    // Cancelled while the process was starting.
                    throw new InterruptedException();
                }
                throw new UnmeasurableException("no process to measure in: " + e.getMessage());
            } finally {
                if (!killed) {
                    marks.remove(key());
                }
            }
        }
    }

    /**
     * Stores marks of one attempt, and removes them when the JVM shuts down: a measuring process
     * that is killed together with this JVM says nothing about the model.
     */
    private final class Marking implements AutoCloseable {

        private final Thread farewell = new Thread(this::end, "djl-delegation-mark");

        /** Guarded by the monitor. */
        private boolean ended;

        /**
         * @throws UnmeasurableException if the JVM is shutting down
         */
        Marking() throws UnmeasurableException {
            try {
                Runtime.getRuntime().addShutdownHook(farewell);
            } catch (IllegalStateException e) {
                throw new UnmeasurableException("this JVM is shutting down");
            }
        }

        synchronized void save(int attempts) {
            if (!ended) {
                marks.save(key(), new Mark(circumstances(), attempts));
            }
        }

        private synchronized void end() {
            ended = true;
            marks.remove(key());
        }

        @Override
        public void close() {
            try {
                Runtime.getRuntime().removeShutdownHook(farewell);
            } catch (IllegalStateException e) {
                logger.debug("the JVM is ending", e);
            }
        }
    }

    /**
     * Measures on the user's request, even if a table exists.
     *
     * @param patienceNanos how long to wait while this JVM measures other models
     * @param keep whether the table replaces an existing one
     * @return empty if another JVM measures the model, or this one is busy for longer
     * @throws IOException if no measuring process can be started
     * @throws InterruptedException if the thread was interrupted; nothing is stored then
     */
    Optional<ProfileTable> renew(long patienceNanos, Predicate<ProfileTable> keep)
            throws IOException, InterruptedException, UnmeasurableException {
        return runExclusively(
                patienceNanos,
                () -> {
                    ProfileTable table = measure(keep, Urgency.AWAITED, early -> {});
                    marks.remove(key());
                    return table;
                });
    }

    private interface Step<T> {
        T run() throws IOException, InterruptedException, UnmeasurableException;
    }

    /** Runs a step while no other thread or process measures; empty if one does. */
    private <T> Optional<T> runExclusively(long patienceNanos, Step<T> step)
            throws IOException, InterruptedException, UnmeasurableException {
        if (!QUIET.tryAcquire(patienceNanos, TimeUnit.NANOSECONDS)) {
            return Optional.empty();
        }
        try {
            Optional<StoreLock> lock = tables.tryLock();
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

    private ProfileTable measure(
            Predicate<ProfileTable> keep, Urgency urgency, Consumer<DelegationChoice> verified)
            throws IOException, InterruptedException {
        ProfileTable table;
        try (CandidateRunner runner = model.newProcess(urgency, request.tolerance())) {
            table =
                    profiling.profile(
                            request,
                            runner,
                            progress,
                            entry -> verified.accept(request.verified(entry)));
        }
        if (keep.test(table)) {
            tables.keep(table);
        }
        warnOfUseless(table);
        return table;
    }

    private void warnOfUseless(ProfileTable table) {
        List<Entry> useless =
                table.entries().stream()
                        .filter(e -> !(e instanceof Entry.Measured) && !isUsual(e))
                        .toList();
        if (!useless.isEmpty()) {
            logger.warn(
                    "{} of {} candidates of {} failed or computed something else and are not used;"
                            + " the first: {}",
                    useless.size(),
                    table.entries().size(),
                    model.file(),
                    describe(useless.get(0)));
        }
    }

    /** Returns whether an engine refused a recipe, which is usual for many models. */
    private static boolean isUsual(Entry entry) {
        return !entry.candidate().recipe().isEmpty()
                && entry instanceof Entry.Failed failed
                && failed.kind() == CandidateException.Kind.REFUSED;
    }

    private static String describe(Entry entry) {
        String recipe = entry.candidate().recipe();
        return (recipe.isEmpty()
                        ? entry.candidate().operators().size() + " operators delegated"
                        : recipe)
                + ": "
                + (entry instanceof Entry.Failed failed
                        ? failed.kind() + ", " + failed.message()
                        : "outputs outside the tolerance");
    }

    /**
     * A mark that measuring has begun. It is removed when measuring ends, unless this JVM or the
     * measuring process is killed.
     *
     * @param circumstances in which another attempt would end the same way
     * @param attempts number of attempts that were killed, or are running
     */
    private record Mark(String circumstances, int attempts) {}

    /** Signals that measuring is impossible now; the one-line message says why. */
    static final class UnmeasurableException extends Exception {

        private static final long serialVersionUID = 1L;

        UnmeasurableException(String message) {
            super(message);
        }
    }

    /** Measures candidates. */
    @FunctionalInterface
    interface Profiling {

        /**
         * Returns the measurements; failing candidates are entries of the table.
         *
         * @param verified receives a verified and clearly better set, before the best is found
         */
        ProfileTable profile(
                Request request,
                CandidateRunner runner,
                Optional<Progress> progress,
                Consumer<Entry.Measured> verified)
                throws InterruptedException;
    }
}
