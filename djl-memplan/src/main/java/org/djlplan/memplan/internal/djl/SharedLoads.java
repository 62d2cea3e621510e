package org.djlplan.memplan.internal.djl;

import ai.djl.BaseModel;
import ai.djl.Model;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import ai.djl.nn.SymbolBlock;
import ai.djl.translate.TranslateException;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.djlplan.memplan.errors.NotPlannedException;
import org.djlplan.memplan.internal.config.OptionKey;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.engine.TfLiteEngineModel;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.internal.store.FileIdentity;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The open models of this process by their file and options. With {@code memplan.shared} the loads
 * of one file share one model: the first load's block serves all of them, and its memory is freed
 * with the last of them. Without the option one warning says that a file is loaded often.
 *
 * <p>A load counts as one of the same file only if the file did not change since well before the
 * load began, because DJL may otherwise have read another content than the file has now.
 */
final class SharedLoads {

    private static final Logger logger = LoggerFactory.getLogger(SharedLoads.class);

    /** A folder with more files is not that of a model. */
    private static final int MOST_FILES = 100;

    private static final int MANY_LOADS = 8;
    private static final long MANY_BYTES = 256_000_000;
    private static final double MEGA = 1e6;

    /** When this thread announced a load. */
    private static final ThreadLocal<Instant> BEGUN = new ThreadLocal<>();

    /**
     * By the model's file. Keys are compared only where a file is loaded again, because hashing
     * options costs a new JVM about 20 ms.
     */
    private static final Map<Path, List<Entry>> OPEN = new HashMap<>();

    private SharedLoads() {}

    /**
     * What loads have in common if they can share a model.
     *
     * @param files of the model; the first is the one that the engine loads
     * @param names of inputs and outputs, and other data that the engine was given
     */
    private record Key(
            String engine, Path file, List<FileIdentity> files, PlanOptions options, String names) {

        long bytes() {
            return files.get(0).bytes();
        }
    }

    /** The open models of a key. The counts are guarded by {@link #OPEN}. */
    private static final class Entry {
        private final Key key;
        private int loads;
        private boolean warned;

        /** The shared model. Set while this is locked. */
        private volatile Optional<Shared> shared = Optional.empty();

        Entry(Key key) {
            this.key = key;
        }
    }

    /**
     * A model that several loads share.
     *
     * @param block the planned block
     * @param handle of the block
     * @param owner has all memory of the model
     */
    private record Shared(Block block, ModelHandle handle, NDManager owner) {

        Block view() {
            return handle.view().orElse(block);
        }
    }

    /** Plans a model. */
    @FunctionalInterface
    interface Planning {

        /** Plans the model on its own; returns whether it is planned. */
        boolean plan() throws TranslateException, NotPlannedException;
    }

    /** Notes that this thread is about to load a model. */
    static void expect() {
        BEGUN.set(Instant.now());
    }

    /**
     * Plans a model on its own, or lets it share the model of an earlier load.
     *
     * @param options of the model
     * @param planning plans it on its own
     * @return whether the model is planned
     */
    static boolean plan(Model model, PlanOptions options, Planning planning)
            throws TranslateException, NotPlannedException {
        Instant begun = BEGUN.get();
        BEGUN.remove();
        Optional<Key> key = begun == null ? Optional.empty() : key(model, options, begun);
        if (key.isEmpty()) {
            return planning.plan();
        }
        Entry entry = enter(key.get());
        boolean planned = false;
        try {
            planned = options.load().shared() ? share(model, entry, planning) : planning.plan();
        } finally {
            if (!planned) {
                leave(entry);
            }
        }
        if (planned) {
            String name = "djl-plan-load-" + System.identityHashCode(model);
            AutoCloseable load = () -> leave(entry);
            model.getNDManager().attachInternal(name, load);
            if (!options.load().shared()) {
                warn(model, entry);
            }
        }
        return planned;
    }

    private static boolean share(Model model, Entry entry, Planning planning)
            throws TranslateException, NotPlannedException {
        // Loads of this file wait for each other, so that the second finds the first.
        synchronized (entry) {
            if (entry.shared.isPresent()) {
                join(model, entry.shared.get());
                logger.info(
                        "{} shares the model that was loaded from {}",
                        model.getName(),
                        entry.key.file());
                return true;
            }
            boolean planned = planning.plan();
            if (planned) {
                entry.shared = moved(model);
            }
            return planned;
        }
    }

    /** Replaces a model's own block, which is freed, by that of a shared one. */
    private static void join(Model model, Shared shared) throws TranslateException {
        Block own = model.getBlock();
        if (isPyTorch(model)) {
            BudgetedWeights.free(own);
        } else {
            try {
                ((AutoCloseable) own).close();
            } catch (Exception e) {
                throw new TranslateException("the engine's block cannot be closed", e);
            }
            ProcessMemory.trim();
        }
        PyTorchPlanning.replaceBlock(model, shared.view());
    }

    private static boolean isPyTorch(Model model) {
        return model.getNDManager().getEngine().getEngineName().equals("PyTorch");
    }

    /**
     * Gives a planned model a manager of its own, so that the block and its memory outlive it.
     * Returns empty if it cannot be shared.
     */
    private static Optional<Shared> moved(Model model) {
        Optional<ModelHandle> handle = ModelHandle.of(model);
        if (handle.isEmpty() || handle.get().keepsState()) {
            logger.warn(
                    "{} is not shared: it keeps state from one prediction to the next",
                    model.getName());
            return Optional.empty();
        }
        try {
            Field manager = BaseModel.class.getDeclaredField("manager");
            manager.setAccessible(true);
            Shared shared = new Shared(model.getBlock(), handle.get(), model.getNDManager());
            manager.set(model, shared.owner().newSubManager());
            PyTorchPlanning.replaceBlock(model, shared.view());
            return Optional.of(shared);
        } catch (ReflectiveOperationException | RuntimeException e) {
            logger.warn("{} is not shared: {}", model.getName(), e.toString());
            return Optional.empty();
        }
    }

    private static Entry enter(Key key) {
        synchronized (OPEN) {
            List<Entry> ofFile = OPEN.computeIfAbsent(key.file(), absent -> new ArrayList<>());
            Entry entry = null;
            for (Entry each : ofFile) {
                entry = each.key.equals(key) ? each : entry;
            }
            if (entry == null) {
                entry = new Entry(key);
                ofFile.add(entry);
            }
            entry.loads++;
            return entry;
        }
    }

    private static void leave(Entry entry) {
        Optional<Shared> last = Optional.empty();
        synchronized (OPEN) {
            entry.loads--;
            if (entry.loads == 0) {
                List<Entry> ofFile = OPEN.get(entry.key.file());
                ofFile.remove(entry);
                if (ofFile.isEmpty()) {
                    OPEN.remove(entry.key.file());
                }
                last = entry.shared;
            }
        }
        last.ifPresent(shared -> shared.owner().close());
    }

    private static void warn(Model model, Entry entry) {
        int loads;
        long savedBytes;
        synchronized (OPEN) {
            loads = entry.loads;
            savedBytes = (loads - 1) * entry.key.bytes();
            if (entry.warned || (loads < MANY_LOADS && savedBytes < MANY_BYTES)) {
                return;
            }
            entry.warned = true;
        }
        logger.warn(
                "{} is loaded {} times from {}; {}=true would save at least {} MB",
                model.getName(),
                loads,
                entry.key.file(),
                OptionKey.SHARED.key(),
                Math.round(savedBytes / MEGA));
    }

    /** Returns the key of a load; empty if it may be of another content than the file has now. */
    private static Optional<Key> key(Model model, PlanOptions options, Instant begun) {
        String engine = model.getNDManager().getEngine().getEngineName();
        try {
            Optional<Path> file = file(model, engine, options);
            if (file.isEmpty()) {
                return Optional.empty();
            }
            Path real = file.get().toRealPath();
            List<FileIdentity> files = new ArrayList<>();
            for (Path each : engine.equals("OnnxRuntime") ? all(real) : List.of(real)) {
                files.add(FileIdentity.of(each));
            }
            return files.size() <= MOST_FILES
                            && files.stream().allMatch(each -> each.isUnchangedSince(begun))
                    ? Optional.of(
                            new Key(
                                    engine + ' ' + model.getNDManager().getDevice(),
                                    real,
                                    files,
                                    options,
                                    names(model)))
                    : Optional.empty();
        } catch (IOException | ReflectiveOperationException | RuntimeException e) {
            logger.debug("{} shares nothing", model.getName(), e);
            return Optional.empty();
        }
    }

    /**
     * Returns the file that the engine loaded. Empty for an imperative block, which is the user's,
     * and for a TensorFlow Lite model that need not be shared, because the system shares its pages.
     */
    private static Optional<Path> file(Model model, String engine, PlanOptions options)
            throws ReflectiveOperationException {
        return switch (engine) {
            case "PyTorch" ->
                    model.getBlock() instanceof SymbolBlock
                            ? PyTorchModelKey.file(model)
                            : Optional.empty();
            case "OnnxRuntime" -> OrtAdapter.of(model).file();
            case "TFLite" ->
                    options.load().shared() ? TfLiteAdapter.fileOf(model) : Optional.empty();
            default -> Optional.empty();
        };
    }

    /** Returns all files of a folder, because an ONNX model may have weights in any of them. */
    private static List<Path> all(Path file) throws IOException {
        List<Path> all = new ArrayList<>();
        all.add(file);
        try (Stream<Path> others = Files.list(file.getParent())) {
            others.filter(each -> Files.isRegularFile(each) && !each.equals(file))
                    .sorted()
                    .limit(MOST_FILES)
                    .forEach(all::add);
        }
        return all;
    }

    private static String names(Model model) {
        return model instanceof TfLiteEngineModel own ? own.threads() + " " + own.ports() : "";
    }
}
