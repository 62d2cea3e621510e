package org.djlplan.memplan.runtime.tflite;

import com.google.common.collect.ImmutableMap;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.djlplan.memplan.config.SearchMode;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.plan.portfolio.EvaluatedPlan;
import org.djlplan.memplan.plan.portfolio.GraphPlanner;
import org.djlplan.memplan.plan.portfolio.PlanImprover;
import org.djlplan.memplan.runtime.BackgroundSearch;
import org.djlplan.memplan.store.FolderStore;
import org.djlplan.memplan.store.GraphStructure;
import org.djlplan.memplan.store.SearchedPlan;
import org.djlplan.memplan.store.SearchedPlanCodec;
import org.djlplan.memplan.store.StoreKey;
import org.djlplan.memplan.store.StoreLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Searches for a smaller plan where the strategies stay above the lower bound, which they seldom
 * do; keeps what it finds, and uses what an earlier search found. What a whole search found is kept
 * even if that is nothing new: a model is searched once.
 */
final class SearchingPlanFinder implements PlanFinder {

    private static final Logger logger = LoggerFactory.getLogger(SearchingPlanFinder.class);

    private final String model;
    private final RuntimeOptions options;
    private final SearchMode mode;
    private final Duration limit;
    private final Function<Duration, PlanImprover> improvers;
    private final FolderStore<SearchedPlan> store;
    private final Supplier<Optional<String>> engine;
    private final List<BackgroundSearch> searches = new ArrayList<>();
    private final Set<StoreKey> warned = ConcurrentHashMap.newKeySet();
    private boolean closed;

    /** The smallest plan known, and whether there is no use in searching again. */
    private record Known(EvaluatedPlan memory, boolean isFinal) {}

    /**
     * @param engine its name and version; empty when it does not tell: then nothing is kept
     */
    SearchingPlanFinder(
            Path file,
            RuntimeOptions options,
            SearchSetup setup,
            Supplier<Optional<String>> engine) {
        Path absolute = file.toAbsolutePath();
        model = absolute.getFileName().toString();
        this.options = options;
        mode = setup.mode();
        limit = mode.limit();
        improvers = setup.improvers();
        store = FolderStore.at(new SearchedPlanCodec(), absolute.getParent(), setup.cacheFolder());
        this.engine = engine;
    }

    /** Returns one for a model that the loaded engine runs. */
    static SearchingPlanFinder of(Path file, RuntimeOptions options, SearchSetup setup) {
        return new SearchingPlanFinder(file, options, setup, SearchingPlanFinder::loadedEngine);
    }

    private static Optional<String> loadedEngine() {
        try {
            return Optional.of("TFLite " + EngineLibrary.loaded().version());
        } catch (UnplannableException e) {
            logger.debug("no plans are searched", e);
            return Optional.empty();
        }
    }

    @Override
    public EvaluatedPlan find(Request request) {
        GraphPlanner planner =
                new GraphPlanner(request.live(), options.strategy(), options.inPlace());
        Optional<String> version = planner.improvable() ? engine.get() : Optional.empty();
        if (version.isEmpty()) {
            return planner.planned();
        }
        StoreKey key = key(request, version.get());
        Known known = known(planner, key);
        if (known.isFinal()) {
            return known.memory();
        }
        if (mode instanceof SearchMode.AtLoad && request.whileLoading()) {
            return searchNow(planner, known.memory(), key);
        }
        searchLater(planner, key);
        return known.memory();
    }

    private StoreKey key(Request request, String version) {
        Graph live = request.live();
        String inputs =
                live.inputs().stream()
                        .map(id -> live.tensors().get(id).shape())
                        .toList()
                        .toString();
        return new StoreKey(
                model,
                ImmutableMap.of(
                        "structure", GraphStructure.hash(live),
                        "inputs", inputs,
                        "engine", version,
                        "threads", Integer.toString(request.threads()),
                        "strategy", options.strategy(),
                        "inPlace", options.inPlace().name()));
    }

    private Known known(GraphPlanner planner, StoreKey key) {
        EvaluatedPlan planned = planner.planned();
        Optional<SearchedPlan> kept = store.load(key);
        if (kept.isEmpty()) {
            return new Known(planned, false);
        }
        SearchedPlan plan = kept.get();
        try {
            EvaluatedPlan restored = planner.restored(plan.plan(), plan.provedMinimal());
            boolean whole = plan.provedMinimal() || plan.searchedMillis() >= limit.toMillis();
            return restored.plan().totalBytes() <= planned.plan().totalBytes()
                    ? new Known(restored, whole)
                    : new Known(planned, false);
        } catch (IllegalArgumentException e) {
            if (warned.add(key)) {
                logger.warn("{}: a stored plan is made anew: {}", model, e.getMessage());
            }
            return new Known(planned, false);
        }
    }

    private EvaluatedPlan searchNow(GraphPlanner planner, EvaluatedPlan best, StoreKey key) {
        try {
            EvaluatedPlan found = searched(planner, best);
            if (!Thread.currentThread().isInterrupted()) {
                keep(found, best, key);
            }
            return found;
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
            logger.warn("{}: a search for a smaller plan failed", model, e);
            return best;
        }
    }

    private void searchLater(GraphPlanner planner, StoreKey key) {
        synchronized (searches) {
            if (!closed) {
                searches.removeIf(BackgroundSearch::isDone);
                searches.add(BackgroundSearch.start(search -> searchAlone(search, planner, key)));
            }
        }
    }

    /**
     * Searches unless another JVM or model does, or has done so by now. Files, and locks of files,
     * may be far away: nobody waits for them here.
     */
    private void searchAlone(BackgroundSearch search, GraphPlanner planner, StoreKey key) {
        Optional<StoreLock> lock = store.tryLock(key);
        if (lock.isEmpty()) {
            return;
        }
        try {
            Known known = known(planner, key);
            if (!known.isFinal()) {
                search.interruptibly(() -> searched(planner, known.memory()))
                        .ifPresent(found -> keep(found, known.memory(), key));
            }
        } finally {
            lock.get().close();
        }
    }

    /** Returns the smallest plan known after a search. */
    private EvaluatedPlan searched(GraphPlanner planner, EvaluatedPlan best) {
        EvaluatedPlan found = planner.searched(improvers.apply(limit));
        return found.plan().totalBytes() <= best.plan().totalBytes() ? found : best;
    }

    private void keep(EvaluatedPlan smallest, EvaluatedPlan before, StoreKey key) {
        store.save(
                key, new SearchedPlan(smallest.plan(), smallest.provedMinimal(), limit.toMillis()));
        logger.debug(
                "{}: a search found an arena of {} bytes in place of {}",
                model,
                smallest.plan().totalBytes(),
                before.plan().totalBytes());
    }

    @Override
    public void close() {
        synchronized (searches) {
            closed = true;
            searches.forEach(BackgroundSearch::cancel);
            searches.clear();
        }
    }
}
