package org.djlplan.memplan.planning;

import com.google.common.collect.ImmutableMap;
import com.google.common.hash.Hasher;
import com.google.common.hash.Hashing;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.djlplan.memplan.config.PlanningOptions;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.plan.portfolio.EvaluatedPlan;
import org.djlplan.memplan.plan.portfolio.MemoryPlanner;
import org.djlplan.memplan.plan.portfolio.PlanImprover;
import org.djlplan.memplan.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.runtime.tflite.PlanFinder;
import org.djlplan.memplan.runtime.tflite.UnplannableException;
import org.djlplan.memplan.store.FolderStore;
import org.djlplan.memplan.store.SearchedPlan;
import org.djlplan.memplan.store.SearchedPlanCodec;
import org.djlplan.memplan.store.StoreKey;
import org.djlplan.memplan.store.StoreLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Plans the live graphs of one TFLite model. The strategies plan each anew, which takes no time to
 * speak of; what a search found is kept beside the model and used from the next load on.
 */
public final class GraphPlanning implements PlanFinder {

    private static final Logger logger = LoggerFactory.getLogger(GraphPlanning.class);

    private final String model;
    private final PlanningOptions options;
    private final PlanningService service;
    private final FolderStore<SearchedPlan> store;
    private final Supplier<Optional<String>> engine;
    private final Set<StoreKey> warned = ConcurrentHashMap.newKeySet();

    /**
     * @param file the model's
     * @param cacheFolder where plans are kept when that is not possible beside the file
     * @param improvers make what searches for so long altogether
     * @param engine its name and version; empty when it does not tell: then nothing is kept
     */
    GraphPlanning(
            Path file,
            PlanningOptions options,
            Path cacheFolder,
            Function<Duration, PlanImprover> improvers,
            Supplier<Optional<String>> engine) {
        Path absolute = file.toAbsolutePath();
        model = absolute.getFileName().toString();
        this.options = options;
        service = new PlanningService(model, options.search(), improvers);
        store = FolderStore.at(new SearchedPlanCodec(), absolute.getParent(), cacheFolder);
        this.engine = engine;
    }

    /**
     * Returns what plans a model that the loaded engine runs.
     *
     * @param file the model's
     * @param cacheFolder where plans are kept when that is not possible beside the file
     */
    public static GraphPlanning of(Path file, PlanningOptions options, Path cacheFolder) {
        return new GraphPlanning(
                file, options, cacheFolder, PlanImprover::within, GraphPlanning::loadedEngine);
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
        MemoryPlanner planner =
                new MemoryPlanner(request.live(), options.strategy(), options.inPlace());
        EvaluatedPlan planned = planner.planned();
        if (planned.provedMinimal() || !service.searches()) {
            return planned;
        }
        Optional<String> version = engine.get();
        return version.isEmpty()
                ? planned
                : service.plan(
                        new LiveGraph(planner, planned, key(request, version.get())),
                        request.whileLoading());
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
                        "structure",
                        structure(live),
                        "inputs",
                        inputs,
                        "engine",
                        version,
                        "threads",
                        Integer.toString(request.threads()),
                        "strategy",
                        options.strategy(),
                        "inPlace",
                        options.inPlace().name()));
    }

    /**
     * Returns a hash of what a plan of a graph depends on: its operators and tensors with types,
     * shapes, sizes, and who uses what; neither names nor the content of constants.
     *
     * @return 64 hexadecimal digits
     */
    static String structure(Graph graph) {
        Hasher hasher = Hashing.sha256().newHasher();
        hasher.putInt(graph.operators().size());
        for (Operator operator : graph.operators()) {
            text(hasher, operator.type());
            numbers(hasher, operator.inputs());
            numbers(hasher, operator.outputs());
            numbers(hasher, operator.temporaries());
        }
        hasher.putInt(graph.tensors().size());
        for (Tensor tensor : graph.tensors()) {
            text(hasher, tensor.type().name());
            text(hasher, tensor.storage().name());
            numbers(hasher, tensor.shape());
            hasher.putLong(tensor.bytes());
        }
        numbers(hasher, graph.inputs());
        numbers(hasher, graph.outputs());
        return hasher.hash().toString();
    }

    private static void text(Hasher hasher, String text) {
        hasher.putInt(text.length()).putUnencodedChars(text);
    }

    private static void numbers(Hasher hasher, List<Integer> numbers) {
        hasher.putInt(numbers.size());
        numbers.forEach(hasher::putInt);
    }

    /** A graph above its lower bound. */
    private final class LiveGraph implements PlanningService.Request {

        private final MemoryPlanner planner;
        private final EvaluatedPlan planned;
        private final StoreKey key;

        LiveGraph(MemoryPlanner planner, EvaluatedPlan planned, StoreKey key) {
            this.planner = planner;
            this.planned = planned;
            this.key = key;
        }

        @Override
        public EvaluatedPlan known() {
            Optional<SearchedPlan> kept = store.load(key);
            if (kept.isEmpty()) {
                return planned;
            }
            SearchedPlan found = kept.get();
            try {
                EvaluatedPlan restored =
                        planner.restored(found.plan(), found.provedMinimal())
                                .searchedFor(found.searchedMillis());
                return restored.arenaBytes() <= planned.arenaBytes() ? restored : planned;
            } catch (IllegalArgumentException e) {
                if (warned.add(key)) {
                    logger.warn("{}: a stored plan is made anew: {}", model, e.getMessage());
                }
                return planned;
            }
        }

        @Override
        public EvaluatedPlan search(EvaluatedPlan best, PlanImprover improver) {
            return planner.searched(improver);
        }

        @Override
        public void keep(EvaluatedPlan found) {
            store.save(key, SearchedPlan.of(found));
        }

        @Override
        public void flush() {
            store.flush();
        }

        @Override
        public Optional<StoreLock> tryLock() {
            return store.tryLock(key);
        }
    }

    @Override
    public void close() {
        service.close();
    }
}
