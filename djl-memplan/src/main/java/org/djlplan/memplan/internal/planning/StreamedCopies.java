package org.djlplan.memplan.internal.planning;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Executor;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.budget.WeightUse;
import org.djlplan.memplan.internal.config.BudgetOptions;
import org.djlplan.memplan.internal.runtime.MappedFile;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;
import org.djlplan.memplan.internal.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.internal.runtime.tflite.EngineView;
import org.djlplan.memplan.internal.runtime.tflite.OpenModel;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.internal.slicing.Dequantize;
import org.djlplan.memplan.internal.slicing.SliceDecision;
import org.djlplan.memplan.internal.slicing.SlicePlanner;
import org.djlplan.memplan.internal.slicing.SlicedModel;
import org.djlplan.memplan.internal.slicing.Slicer;
import org.djlplan.memplan.internal.source.tflite.TfLiteBytes;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteOperator;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.internal.store.Fingerprint;
import org.djlplan.memplan.internal.store.Fingerprints;
import org.djlplan.memplan.internal.store.KeptCopies;
import org.djlplan.memplan.internal.store.KeptCopies.Found;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.thirdparty.guava.base.Stopwatch;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The copies of one model from which weights are loaded: finds a stored copy, or makes one. Data
 * that kernels derive from weights is captured in one inference on zeros when a copy is made, and
 * is appended to the model in the same file.
 */
public final class StreamedCopies implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(StreamedCopies.class);

    /** Changes when the same decisions result in a different file than before. */
    private static final String FORMAT = "1";

    /** Denominator of the fraction that is added for gaps that no plan can fill. */
    private static final int GAPS = 50;

    /** The threads that the engine gives Eigen if no number is set. */
    private static final int DEFAULT_THREADS = 4;

    private static final String ENDING = ".streamed.tflite";

    /** Inputs of two shapes may alternate. */
    private static final int QUOTA_IN_COPIES = 2;

    /** Room for the structure of the files, and for alignment of constants to pages. */
    private static final int SLACK_BYTES = 1 << 20;

    private final Path original;
    private final LoadedFile loaded;
    private final int threads;
    private final BudgetOptions options;
    private final KeptCopies kept;

    /**
     * @param original the model's file, which is loaded now
     * @param threads of the engine, −1 for its default
     * @param cacheFolder for copies that cannot be stored beside the model
     * @throws IOException if there is no such file
     */
    public StreamedCopies(Path original, int threads, BudgetOptions options, Path cacheFolder)
            throws IOException {
        this.original = original;
        this.threads = threads;
        this.options = options;
        Fingerprints fingerprints = new Fingerprints(cacheFolder, MappedFile::dropCached);
        loaded = new LoadedFile(original, fingerprints);
        kept = new KeptCopies(original, cacheFolder, fingerprints, ENDING);
    }

    /** Returns the size of the model's file. */
    public long originalBytes() {
        return loaded.bytes();
    }

    /**
     * Returns a mapping of the model's file as it was when the model was loaded.
     *
     * @throws IOException if it cannot be read
     */
    public MappedFile mapOriginal() throws IOException, UnsupportedPlatformException {
        return loaded.map();
    }

    /**
     * Checks that the model's file has the content that it had when the model was loaded. Only for
     * work that opens the file by its name.
     *
     * @throws IOException if it was changed or replaced
     */
    public void requireOriginal() throws IOException {
        loaded.requireSame();
    }

    /**
     * Returns a copy of the model, with operators sliced if an arena of the given size requires it.
     * The engine must be loaded. A copy with slices is for some input shapes only; one without
     * slices is for all.
     *
     * @param arenaBytes size of the arena in which the copy must run
     * @param shapes of the inputs; empty for those in the file
     * @param thread that will run the copy. It also runs the model once to capture data that
     *     kernels derive from weights, because the C library keeps those buffers for the thread
     *     that allocated them.
     * @throws BudgetTooSmallException if the copy does not fit even with slices
     * @throws IOException if the model cannot be read, or the copy cannot be written
     * @throws UnplannableException if the engine cannot run it
     */
    public StreamedModel of(long arenaBytes, List<List<Integer>> shapes, Executor thread)
            throws IOException, UnplannableException, BudgetTooSmallException {
        // Computed before the file is read, so that the copy is certain to be of this content.
        Fingerprint fingerprint = loaded.fingerprint();
        try (MappedFile mapping = loaded.map()) {
            TfLiteFile inFile =
                    Dequantize.constants(TfLiteReader.read(mapping.bytes(), original.toString()));
            TfLiteFile model = shapes.isEmpty() ? inFile : shaped(inFile, shapes);
            // The reader touched each constant's length, and the system mapped the pages around it.
            mapping.releasePages();
            SlicePlanner planner = planner(model);
            if (!options.bestEffort()) {
                requireRoom(model, planner.least(), arenaBytes);
            }
            List<SliceDecision> decisions = planner.decisions(arenaBytes);
            boolean whole = decisions.isEmpty();
            SlicedModel sliced = Slicer.slice(whole ? inFile : model, decisions);
            mapping.releasePages();
            StoreKey key = key(fingerprint, decisions, whole ? List.of() : shapes);
            Found copy =
                    kept.findOrMake(
                            key,
                            found -> isCopy(found, sliced),
                            quotaBytes(sliced),
                            file -> {
                                OptionalLong derived = make(file, sliced, mapping, thread);
                                loaded.requireUnwritten(fingerprint, mapping);
                                return derived;
                            });
            return new StreamedModel(
                    original,
                    fingerprint,
                    copy.file(),
                    sliced.views(),
                    (int) decisions.stream().filter(each -> each.count() > 1).count(),
                    withGaps(planner.least()),
                    Optional.of(copy.copy().derivedBeginBytes()).filter(begin -> begin > 0));
        } catch (UnsupportedPlatformException e) {
            throw new UnplannableException(e.getMessage());
        }
    }

    /** Uses the shapes that the engine computes for activations. */
    private TfLiteFile shaped(TfLiteFile inFile, List<List<Integer>> shapes)
            throws IOException, UnplannableException, UnsupportedPlatformException {
        Graph live;
        try (OpenModel model = OpenModel.of(loaded.map(), original)) {
            live = EngineView.of(model, threads, shapes).graph();
        }
        Map<Integer, List<Integer>> resized = new HashMap<>();
        Set<Integer> activations = new HashSet<>(inFile.main().inputs());
        inFile.main().operators().forEach(each -> activations.addAll(each.presentOutputs()));
        activations.forEach(id -> resized.put(id, live.tensors().get(id).shape()));
        return inFile.withShapes(resized);
    }

    /**
     * Returns the smallest arena in which the model can run, sliced as far as it can be.
     *
     * @throws IOException if the model cannot be read
     * @throws UnplannableException if files cannot be mapped here
     */
    public long leastArenaBytes() throws IOException, UnplannableException {
        try (MappedFile mapping = loaded.map()) {
            TfLiteFile model =
                    Dequantize.constants(TfLiteReader.read(mapping.bytes(), original.toString()));
            mapping.releasePages();
            return withGaps(planner(model).least());
        } catch (UnsupportedPlatformException e) {
            throw new UnplannableException(e.getMessage());
        }
    }

    private SlicePlanner planner(TfLiteFile model) {
        return new SlicePlanner(model, threads < 0 ? DEFAULT_THREADS : threads);
    }

    private static long withGaps(SlicePlanner.Least least) {
        return least.bytes() + least.bytes() / GAPS;
    }

    /** Checks that the arena suffices for the smallest slices, before anything is written. */
    private void requireRoom(TfLiteFile model, SlicePlanner.Least least, long arenaBytes)
            throws BudgetTooSmallException {
        if (least.bytes() > arenaBytes) {
            TfLiteOperator operator = model.main().operators().get(least.operator());
            throw new BudgetTooSmallException(
                    "operator %d (%s) alone needs %d bytes, even in the smallest slices"
                            .formatted(
                                    least.operator(), model.codeOf(operator).name(), least.bytes()),
                    withGaps(least));
        }
    }

    private StoreKey key(
            Fingerprint fingerprint, List<SliceDecision> decisions, List<List<Integer>> shapes)
            throws UnplannableException {
        ImmutableMap.Builder<String, String> facts =
                ImmutableMap.<String, String>builder()
                        .put("content", fingerprint.content())
                        .put("engine", "TFLite " + EngineLibrary.loaded().version())
                        .put("threads", threads == 1 ? "one" : "several")
                        .put("slices", decisions.toString())
                        .put("format", FORMAT);
        if (!shapes.isEmpty()) {
            facts.put("shapes", shapes.toString());
        }
        return new StoreKey(original.getFileName().toString(), facts.buildOrThrow());
    }

    /** Another user with write access may put a file of another model beside the model. */
    private boolean isCopy(Found found, SlicedModel sliced) {
        try (MappedFile mapping = MappedFile.open(found.file())) {
            TfLiteFile copy = TfLiteReader.read(mapping.bytes(), found.file().toString());
            mapping.releasePages();
            boolean same = copy.equalsExceptLargeBuffers(sliced.file(), WeightUse.PAGE_BYTES);
            if (!same) {
                logger.warn(
                        "{} was not made from {}; it will be made again", found.file(), original);
            }
            return same;
        } catch (IOException | UnsupportedPlatformException e) {
            logger.warn(
                    "{} cannot be used ({}); it will be made again", found.file(), e.toString());
            return false;
        }
    }

    /** Kernels derive at most as much data as the weights have. */
    private long quotaBytes(SlicedModel sliced) {
        long weightBytes = sliced.file().buffers().stream().mapToLong(TfLiteBytes::sizeBytes).sum();
        return QUOTA_IN_COPIES * ((threads == 1 ? 1 : 2) * weightBytes + SLACK_BYTES);
    }

    private OptionalLong make(Path file, SlicedModel sliced, MappedFile mapping, Executor thread)
            throws IOException {
        logger.info(
                "{}: making a copy to load weights from, once (at most {} MB beside the model)",
                original.getFileName(),
                quotaBytes(sliced) / 1_000_000);
        Stopwatch watch = Stopwatch.createStarted();
        OptionalLong derivedBegin =
                new CopyWriter(original, threads).write(file, sliced, mapping, thread);
        ProcessMemory.trim();
        logger.info("{}: the copy is made, in {}", original.getFileName(), watch);
        return derivedBegin;
    }

    /** Ends the use of the model's file; copies that were found remain usable. */
    @Override
    public void close() {
        loaded.close();
    }
}
