package org.djlplan.memplan.internal.djl;

import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.engine.EngineException;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.config.Budget;
import org.djlplan.memplan.internal.config.BudgetOptions;
import org.djlplan.memplan.internal.config.BudgetResolver;
import org.djlplan.memplan.internal.config.GivenOptions;
import org.djlplan.memplan.internal.config.OptionKey;
import org.djlplan.memplan.internal.runtime.MappedFile;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.internal.runtime.torch.StreamedWeights;
import org.djlplan.memplan.internal.runtime.torch.TorchAllocator;
import org.djlplan.memplan.internal.runtime.torch.WeightFile;
import org.djlplan.memplan.internal.source.torchscript.SlicedArchive;
import org.djlplan.memplan.internal.store.CacheFolder;
import org.djlplan.memplan.internal.store.FileIdentity;
import org.djlplan.memplan.internal.store.Fingerprint;
import org.djlplan.memplan.internal.store.Fingerprints;
import org.djlplan.memplan.internal.store.KeptCopies;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.internal.thread.Later;
import org.djlplan.thirdparty.guava.annotations.VisibleForTesting;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads PyTorch models with a budget: their weights are in a file, and only as many of them are in
 * memory as the budget has room for.
 *
 * <p>Before DJL loads a model, its only call to djl-plan asks the translator factory whether it
 * supports some types. If the application has set a budget before that call, the model's weights go
 * directly into a file. If the budget is known only later, the model is loaded twice.
 */
final class BudgetedWeights {

    private static final Logger logger = LoggerFactory.getLogger(BudgetedWeights.class);

    /** Weights may be slightly larger than their archive, which may store some in fewer bits. */
    private static final long SLACK_BYTES = 64 << 20;

    /** Addresses for weights of unknown size. A model with more weights is loaded again. */
    private static final long ANY_BYTES = 16L << 30;

    /** A load that takes longer is assumed to have failed without notice. */
    private static final Duration LONGEST_LOAD = Duration.ofMinutes(10);

    /** Denominator: layers with more than this fraction of the budget are sliced. */
    private static final int LAYERS_IN_BUDGET = 5;

    /** Denominator: the size of a slice is this fraction of the budget. */
    private static final int SLICES_IN_BUDGET = 16;

    private static final String PYTORCH = "PyTorch";
    private static final String SLICED = ".sliced.pt";
    private static final int COPIES_IN_QUOTA = 2;

    private static final ThreadLocal<Expected> EXPECTED = new ThreadLocal<>();

    /** How many threads expect a load; counts threads that have ended until the limit. */
    private static final AtomicInteger EXPECTING = new AtomicInteger();

    private BudgetedWeights() {}

    /**
     * A block and its weights.
     *
     * @param weights the weights; empty if they are in the engine's own memory
     * @param sliceBytes size of the slices of its largest layers; 0 if there are none
     */
    record Loaded(Block block, Optional<StreamedWeights> weights, long sliceBytes) {}

    /** A load that has been announced. */
    private static final class Expected {

        private final WeightFile file;
        private final AtomicBoolean ended = new AtomicBoolean();

        private final Future<?> limit;

        /** Begins to load this thread's weights into a file. */
        Expected(WeightFile file, Duration longest) throws IOException {
            this.file = file;
            file.beginLoad();
            EXPECTING.incrementAndGet();
            limit = Later.schedule(longest, this::abandon);
        }

        /** Ends it; returns false if it had ended. */
        boolean end() {
            boolean first = !ended.getAndSet(true);
            if (first) {
                EXPECTING.decrementAndGet();
            }
            return first;
        }

        /** Frees the file, because the thread may have ended, and may never call again. */
        private void abandon() {
            if (end()) {
                file.abandonLoad();
                file.close();
            }
        }
    }

    /** A block that DJL loaded, with its weights in a file. */
    record Early(Block block, WeightFile file) {

        /** Frees both. */
        void close() {
            free(block);
            file.close();
        }
    }

    /** Frees the memory of a TorchScript block, which its arrays keep even when it is closed. */
    static void free(Block block) {
        block.getParameters().values().forEach(Parameter::close);
        if (block instanceof AutoCloseable closeable) {
            try {
                closeable.close();
            } catch (Exception e) {
                logger.debug("a block is not closed", e);
            }
        }
        ProcessMemory.trim();
    }

    /**
     * Announces that this thread is about to load a model: its weights will be loaded into a file
     * if the application sets a budget, and if PyTorch's engine is loaded already, or is the only
     * engine of this process.
     *
     * @param given options set by the application's code
     */
    static void expect(Map<String, ?> given) {
        expect(given, LONGEST_LOAD);
    }

    /**
     * The same with another limit, for tests.
     *
     * @param longest after this time the load is assumed to have failed
     */
    @VisibleForTesting
    static void expect(Map<String, ?> given, Duration longest) {
        expectNone();
        if (!hasBudget(given)) {
            return;
        }
        try {
            boolean only = Engine.getAllEngines().equals(Set.of(PYTORCH));
            String version = only ? Engine.getEngine(PYTORCH).getVersion() : "";
            if (TorchAllocator.attach(version).isPresent()) {
                return;
            }
            WeightFile file = WeightFile.create(folder(), ANY_BYTES);
            try {
                EXPECTED.set(new Expected(file, longest));
            } catch (IOException e) {
                file.close();
                throw e;
            }
        } catch (IOException | EngineException e) {
            logger.debug("weights are loaded twice", e);
        }
    }

    /**
     * Ends an announced load of this thread that has failed, because DJL does not report the
     * failure. Costs almost nothing if no load is announced.
     */
    static void expectNone() {
        if (EXPECTING.get() > 0) {
            Optional<WeightFile> unused = arrived();
            if (unused.isPresent()) {
                unused.get().close();
            }
        }
    }

    private static boolean hasBudget(Map<String, ?> given) {
        Optional<String> set = GivenOptions.ofApplication(OptionKey.BUDGET, given);
        if (set.isEmpty()) {
            return false;
        }
        Optional<BudgetOptions> budget = BudgetOptions.of(set.get());
        return budget.isPresent() && budget.get().limited();
    }

    /**
     * Returns the weights that this thread has loaded since the announcement; empty if that took
     * too long.
     */
    static Optional<WeightFile> arrived() {
        Expected expected = EXPECTED.get();
        if (expected == null) {
            return Optional.empty();
        }
        EXPECTED.remove();
        if (!expected.end()) {
            return Optional.empty();
        }
        boolean unused = expected.limit.cancel(false);
        WeightFile file = expected.file;
        try {
            file.endLoad();
        } catch (IOException e) {
            logger.warn("weights are not stored in a file: {}", e.toString());
            file.close();
            return Optional.empty();
        }
        return Optional.of(file);
    }

    /**
     * Loads the TorchScript file of a model. Layers whose weights are too large for the budget run
     * in slices, from a copy of the file.
     *
     * @param archive the file
     * @param early the model's own block and its weights, if they are already in a file
     */
    static Loaded load(Model model, Path archive, Optional<Early> early, BudgetOptions options)
            throws IOException {
        BudgetResolver resolver = resolver(options.budget(), Files.size(archive));
        long budget = resolver.bytes(0);
        FileIdentity identity = FileIdentity.of(archive);
        Optional<SlicedArchive> sliced = sliced(archive, budget);
        if (sliced.isPresent()) {
            early.ifPresent(Early::close);
            try {
                Path copy = copy(model.getName(), sliced.get(), identity, sliceBytes(budget));
                WeightFile file = WeightFile.create(folder(), capacity(archive));
                return loaded(
                        model,
                        file,
                        copy.getParent(),
                        nameOf(copy),
                        resolver,
                        options,
                        sliced.get());
            } catch (IOException | RuntimeException e) {
                if (e.getCause() instanceof BudgetTooSmallException) {
                    throw e;
                }
                logger.warn("{} is not sliced: {}", model.getName(), e.toString());
            }
        } else if (early.isPresent()) {
            if (early.get().file().mostBytes() >= capacity(archive)) {
                return loaded(
                        model, early.get().block(), early.get().file(), resolver, options, 0, 0);
            }
            logger.debug("weights of {} are loaded twice, because they are many", model.getName());
            early.get().close();
        }
        return loaded(
                model,
                WeightFile.create(folder(), capacity(archive)),
                archive.getParent(),
                nameOf(archive),
                resolver,
                options,
                new SlicedArchive(archive, Map.of(), 0));
    }

    /** Loads a TorchScript file into the engine's own memory. */
    static Loaded stock(Model model, Path archive) throws IOException {
        return new Loaded(
                StockBlock.load(model, archive.getParent(), nameOf(archive)), Optional.empty(), 0);
    }

    private static Loaded loaded(
            Model model,
            WeightFile file,
            Path folder,
            String name,
            BudgetResolver resolver,
            BudgetOptions options,
            SlicedArchive sliced)
            throws IOException {
        Optional<Block> block = Optional.empty();
        try {
            file.beginLoad();
            block = Optional.of(StockBlock.load(model, folder, name));
            file.endLoad();
            return loaded(
                    model,
                    block.get(),
                    file,
                    resolver,
                    options,
                    sliced.layers(),
                    sliced.layers() == 0 ? 0 : sliceBytes(resolver.bytes(0)));
        } catch (IOException | RuntimeException | Error e) {
            file.abandonLoad();
            block.ifPresent(BudgetedWeights::free);
            file.close();
            throw e;
        }
    }

    private static Loaded loaded(
            Model model,
            Block block,
            WeightFile file,
            BudgetResolver resolver,
            BudgetOptions options,
            int slicedLayers,
            long sliceBytes)
            throws IOException {
        StreamedWeights weights =
                new StreamedWeights(
                        model.getName(),
                        resolver,
                        options,
                        file,
                        slicedLayers,
                        () -> ParameterMove.bytesByName(block));
        return new Loaded(block, Optional.of(weights), sliceBytes);
    }

    private static Optional<SlicedArchive> sliced(Path archive, long budget) {
        try {
            SlicedArchive sliced =
                    SlicedArchive.of(archive, budget / LAYERS_IN_BUDGET, sliceBytes(budget));
            return sliced.layers() == 0 ? Optional.empty() : Optional.of(sliced);
        } catch (IOException | RuntimeException e) {
            logger.debug("{} is not sliced", archive, e);
            return Optional.empty();
        }
    }

    /**
     * Returns the copy of an archive with sliced layers: the stored one, or a new one.
     *
     * @param identity of the archive before it was read
     */
    private static Path copy(
            String model, SlicedArchive sliced, FileIdentity identity, long sliceBytes)
            throws IOException {
        Path archive = sliced.archive();
        Fingerprints fingerprints = new Fingerprints(folder(), MappedFile::dropCached);
        Fingerprint fingerprint = fingerprints.of(archive);
        fingerprint.requireIdentity(identity, archive);
        KeptCopies copies = new KeptCopies(archive, folder(), fingerprints, SLICED);
        StoreKey key =
                new StoreKey(
                        model,
                        ImmutableMap.of(
                                "content", fingerprint.content(),
                                "slicing", SlicedArchive.VERSION,
                                "layers", Integer.toString(sliced.layers()),
                                "sliceBytes", Long.toString(sliceBytes)));
        long quota = COPIES_IN_QUOTA * Files.size(archive);
        return copies.findOrMake(
                        key,
                        found -> true,
                        quota,
                        file -> {
                            logger.info(
                                    "{}: {} layers are cut into slices", model, sliced.layers());
                            sliced.write(file);
                            fingerprint.requireUnchanged(archive);
                            return OptionalLong.empty();
                        })
                .file();
    }

    /**
     * Returns a size at which a window has room for several slices and the model's other memory.
     */
    private static long sliceBytes(long budget) {
        return Math.max(1 << 20, budget / SLICES_IN_BUDGET);
    }

    private static long capacity(Path archive) throws IOException {
        return Files.size(archive) + SLACK_BYTES;
    }

    private static String nameOf(Path archive) {
        String name = archive.getFileName().toString();
        return name.endsWith(".pt") ? name.substring(0, name.length() - 3) : name;
    }

    /**
     * Moves the parameters of an imperative block into a file.
     *
     * @throws IOException if they cannot be moved
     */
    static Loaded moved(Model model, Block block, BudgetOptions options) throws IOException {
        long bytes = ParameterMove.bytes(block);
        WeightFile file = WeightFile.create(folder(), bytes + SLACK_BYTES);
        try {
            ParameterMove.move(block, file);
            return loaded(model, block, file, resolver(options.budget(), bytes), options, 0, 0);
        } catch (IOException | RuntimeException | Error e) {
            file.close();
            throw e;
        }
    }

    /**
     * Returns the resolver of a budget.
     *
     * @param modelBytes size of the weights; the stock engine is assumed to take a fifth more, as
     *     djl-serving estimates
     */
    static BudgetResolver resolver(Budget budget, long modelBytes) {
        return new BudgetResolver(budget, Math.max(1, modelBytes / 5 * 6));
    }

    private static Path folder() throws IOException {
        return Files.createDirectories(CacheFolder.get());
    }
}
