package org.djlplan.memplan.runtime.tflite;

import com.google.common.collect.ImmutableMap;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.order.OrderValidator;
import org.djlplan.memplan.order.PlannedOrder;
import org.djlplan.memplan.runtime.MappedFile;
import org.djlplan.memplan.runtime.UnsupportedPlatformException;
import org.djlplan.memplan.source.tflite.TfLiteFile;
import org.djlplan.memplan.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.source.tflite.TfLiteReader;
import org.djlplan.memplan.store.CpuFeatures;
import org.djlplan.memplan.store.FolderStore;
import org.djlplan.memplan.store.KeptFile;
import org.djlplan.memplan.store.ModelFiles;
import org.djlplan.memplan.store.OrderCodec;
import org.djlplan.memplan.store.StoreKey;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds an order of a model's operators in which it needs a smaller arena, and keeps the order and
 * a copy of the model in that order beside the model. The search runs on the engine's own view of
 * the model, kernels' temporaries included, once per model, threads and way of planning.
 */
public final class Reordering {

    private static final Logger logger = LoggerFactory.getLogger(Reordering.class);

    /** Changes when the search may find other orders than before. */
    private static final String SEARCH = "1";

    private final Path cacheFolder;

    /**
     * @param cacheFolder for what cannot be kept next to the model
     */
    public Reordering(Path cacheFolder) {
        this.cacheFolder = cacheFolder;
    }

    /**
     * Returns the model in the order that needs the smallest arena. That of its file stays where
     * none is better or, with one warning, where no copy can be made. The engine must be loaded.
     *
     * @param options how the model is planned and run
     */
    public OrderedModel of(Path file, RuntimeOptions options) {
        try (MappedFile original = MappedFile.open(file)) {
            TfLiteFile model = TfLiteReader.read(original.bytes(), file.toString());
            Graph graph = TfLiteGraphs.toGraph(model, file.getFileName().toString());
            FolderStore<PlannedOrder> store =
                    FolderStore.at(
                            new OrderCodec(), file.toAbsolutePath().getParent(), cacheFolder);
            StoreKey key = key(file, options);
            Optional<PlannedOrder> kept = store.load(key);
            Optional<PlannedOrder> known = kept.filter(order -> fits(graph, order));
            if (kept.isPresent() && known.isEmpty()) {
                logger.warn("{}: a stored order is none of this model; to be made anew", file);
            }
            PlannedOrder found = known.isPresent() ? known.get() : search(file, graph, options);
            Path opened = file;
            if (found.worthwhile()) {
                ReorderedCopy copy =
                        new ReorderedCopy(file, original.bytes(), model, found.order().operators());
                opened = copy.findOrMake(kept(file, options));
            }
            if (known.isEmpty()) {
                // Not before: where no copy can be made, one warning is enough.
                store.save(key, found);
            }
            return new OrderedModel(file, opened, Optional.of(found));
        } catch (UnplannableException | UnsupportedPlatformException e) {
            // Planning is about to fail for the same reason, and tells it.
            logger.debug("{} is not put in order", file, e);
        } catch (IOException | RuntimeException e) {
            logger.warn("{} keeps the order of its operators: {}", file, e.toString());
        }
        return OrderedModel.asInFile(file);
    }

    private static PlannedOrder search(Path file, Graph graph, RuntimeOptions options)
            throws IOException, UnplannableException {
        Graph live = EngineView.of(file, options.threads()).graph();
        PlannedOrder found = PlannedOrder.of(live, options.strategy(), options.inPlace());
        if (!fits(graph, found)) {
            throw new IllegalStateException("the engine's graph has other dependencies");
        }
        return found;
    }

    private static boolean fits(Graph graph, PlannedOrder order) {
        return OrderValidator.problems(graph, order.order().operators()).isEmpty();
    }

    private static StoreKey key(Path file, RuntimeOptions options)
            throws IOException, UnplannableException {
        return new StoreKey(
                file.getFileName().toString(),
                ImmutableMap.of(
                        "content", ModelFiles.sampledContent(file),
                        "engine", "TFLite " + EngineLibrary.loaded().version(),
                        "threads", Integer.toString(options.threads()),
                        "cpu", CpuFeatures.current(),
                        "strategy", options.strategy(),
                        "inPlace", options.inPlace().name(),
                        "search", SEARCH));
    }

    private KeptFile kept(Path file, RuntimeOptions options) {
        // One per way of running the model, so that a new version of it replaces the old copies.
        String variant =
                "order " + options.threads() + options.strategy() + options.inPlace().name();
        return KeptFile.of(file, cacheFolder, variant, ".tflite");
    }
}
