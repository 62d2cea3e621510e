package org.djlplan.memplan.planning;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.djlplan.memplan.config.SearchMode;
import org.djlplan.memplan.plan.portfolio.EvaluatedPlan;
import org.djlplan.memplan.plan.portfolio.PlanImprover;
import org.djlplan.memplan.runtime.BackgroundSearch;
import org.djlplan.memplan.store.StoreLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds a small plan of a problem: one that was kept, or one that the strategies make at once.
 * Where it is above its lower bound, which is rare, it is searched for a smaller one: while
 * somebody waits or in the background, as the model's user says. What a whole search found is kept
 * even if that is nothing new: a problem is searched once, and again only by a search that may take
 * longer.
 *
 * <p>Of several models and JVMs with the same problem one searches.
 */
final class PlanningService implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(PlanningService.class);

    private final String model;
    private final SearchMode mode;
    private final Function<Duration, PlanImprover> improvers;
    private final List<BackgroundSearch> searches = new ArrayList<>();
    private boolean closed;

    /**
     * @param model its name, for the log
     * @param mode when plans are searched
     * @param improvers make what searches for so long altogether
     */
    PlanningService(String model, SearchMode mode, Function<Duration, PlanImprover> improvers) {
        this.model = model;
        this.mode = mode;
        this.improvers = improvers;
    }

    /** A problem, and the place where its plan is kept between runs of a JVM. */
    interface Request {

        /**
         * Returns the smallest plan that is known: the one that is kept by now if it can be used,
         * else that of the strategies. May wait for files.
         */
        EvaluatedPlan known();

        /**
         * Returns the smallest plan after a search.
         *
         * @param best the smallest that was known before
         */
        EvaluatedPlan search(EvaluatedPlan best, PlanImprover improver);

        /** Keeps what a search found. */
        void keep(EvaluatedPlan found);

        /** Waits until what is kept is written, so that whoever searches next finds it. */
        void flush();

        /** Tries to be the only one that searches; empty if another one does. */
        Optional<StoreLock> tryLock();
    }

    /** Returns whether plans are searched at all, and those used that a search found before. */
    boolean searches() {
        return !(mode instanceof SearchMode.Off);
    }

    /** Returns whether the model's user wants to wait for searches. */
    boolean waits() {
        return mode instanceof SearchMode.AtLoad;
    }

    /** Returns whether a plan should be searched for a smaller one. */
    private boolean isOpen(EvaluatedPlan known) {
        return searches() && !known.provedMinimal() && known.searchedMillis() < limitMillis();
    }

    /** Never 0, which is for what was not searched. */
    private long limitMillis() {
        return Math.max(1, mode.limit().toMillis());
    }

    /**
     * Returns the plan to use now. If a search goes on in the background, what it finds is kept.
     *
     * @param mayWait whether the model's user expects to wait
     */
    EvaluatedPlan plan(Request request, boolean mayWait) {
        EvaluatedPlan known = request.known();
        if (mayWait && waits()) {
            return searchNow(request, known);
        }
        searchLater(request, known);
        return known;
    }

    /** Returns the smallest plan after a search, or the known one if there is no use in that. */
    EvaluatedPlan searchNow(Request request, EvaluatedPlan known) {
        if (!isOpen(known)) {
            return known;
        }
        try {
            EvaluatedPlan found = searched(request, known);
            if (Thread.currentThread().isInterrupted()) {
                // It may have ended too early.
                return found.searchedFor(known.searchedMillis());
            }
            keep(request, found, known);
            return found;
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
            logger.warn("{}: a search for a smaller plan failed", model, e);
            return known;
        }
    }

    /** Searches in the background, unless there is no use in that. */
    void searchLater(Request request, EvaluatedPlan known) {
        synchronized (searches) {
            if (!closed && isOpen(known)) {
                searches.removeIf(BackgroundSearch::isDone);
                searches.add(BackgroundSearch.start(search -> searchAlone(search, request)));
            }
        }
    }

    /**
     * Searches unless another JVM or model does, or has done so by now. Files, and locks of files,
     * may be far away: nobody waits for them here.
     */
    private void searchAlone(BackgroundSearch search, Request request) {
        Optional<StoreLock> lock = request.tryLock();
        if (lock.isEmpty()) {
            return;
        }
        try {
            EvaluatedPlan known = request.known();
            if (isOpen(known)) {
                search.interruptibly(() -> searched(request, known))
                        .ifPresent(found -> keep(request, found, known));
                request.flush();
            }
        } finally {
            lock.get().close();
        }
    }

    /** Returns the smallest plan known after a search. */
    private EvaluatedPlan searched(Request request, EvaluatedPlan known) {
        EvaluatedPlan found = request.search(known, improvers.apply(mode.limit()));
        return (found.arenaBytes() <= known.arenaBytes() ? found : known)
                .searchedFor(limitMillis());
    }

    private void keep(Request request, EvaluatedPlan found, EvaluatedPlan before) {
        request.keep(found);
        logger.debug(
                "{}: a search found an arena of {} bytes in place of {}",
                model,
                found.arenaBytes(),
                before.arenaBytes());
    }

    /** Ends what goes on in the background; what it would have found is not kept. */
    void cancel() {
        synchronized (searches) {
            searches.forEach(BackgroundSearch::cancel);
            searches.clear();
        }
    }

    /** Ends what goes on in the background, and begins no more of it. */
    @Override
    public void close() {
        synchronized (searches) {
            closed = true;
            cancel();
        }
    }
}
