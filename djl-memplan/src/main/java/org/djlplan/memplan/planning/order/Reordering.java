package org.djlplan.memplan.planning.order;

import com.google.common.collect.ImmutableMap;
import com.google.common.io.ByteSource;
import com.google.common.io.MoreFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.config.PlanOptions;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.order.OrderValidator;
import org.djlplan.memplan.order.PlannedOrder;
import org.djlplan.memplan.runtime.MappedFile;
import org.djlplan.memplan.runtime.UnsupportedPlatformException;
import org.djlplan.memplan.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.runtime.tflite.EngineView;
import org.djlplan.memplan.runtime.tflite.UnplannableException;
import org.djlplan.memplan.source.tflite.OperatorOrderEdit;
import org.djlplan.memplan.source.tflite.TfLiteFile;
import org.djlplan.memplan.source.tflite.TfLiteFormatException;
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
     * @param options those of the model
     */
    public OrderedModel of(Path file, PlanOptions options) {
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

    private static PlannedOrder search(Path file, Graph graph, PlanOptions options)
            throws IOException, UnplannableException {
        Graph live = EngineView.of(file, options.threads()).graph();
        PlannedOrder found =
                PlannedOrder.of(live, options.planning().strategy(), options.planning().inPlace());
        if (!fits(graph, found)) {
            throw new IllegalStateException("the engine's graph has other dependencies");
        }
        return found;
    }

    private static boolean fits(Graph graph, PlannedOrder order) {
        return OrderValidator.problems(graph, order.order().operators()).isEmpty();
    }

    private static StoreKey key(Path file, PlanOptions options)
            throws IOException, UnplannableException {
        return new StoreKey(
                file.getFileName().toString(),
                ImmutableMap.of(
                        "content", ModelFiles.sampledContent(file),
                        "engine", "TFLite " + EngineLibrary.loaded().version(),
                        "threads", Integer.toString(options.threads()),
                        "cpu", CpuFeatures.current(),
                        "strategy", options.planning().strategy(),
                        "inPlace", options.planning().inPlace().name(),
                        "search", SEARCH));
    }

    private KeptFile kept(Path file, PlanOptions options) {
        // One per way of running the model, so that a new version of it replaces the old copies.
        String variant =
                "order "
                        + options.threads()
                        + options.planning().strategy()
                        + options.planning().inPlace().name();
        return KeptFile.of(file, cacheFolder, variant, ".tflite");
    }

    /**
     * A copy of a model's file with its operators in another order. A copy that exists is compared
     * with the model's file, byte by byte but for the offsets that differ, before it is used:
     * neither a damaged one nor one of another model of the same name is ever trusted.
     */
    private static final class ReorderedCopy {

        private final Path file;
        private final ByteBuffer original;
        private final TfLiteFile wanted;
        private final OperatorOrderEdit edit;

        /**
         * @param file the model's file
         * @param original its bytes
         * @param model what they say
         * @param order indices of the operators, in the order to execute
         * @throws TfLiteFormatException if the file cannot be put in that order
         */
        ReorderedCopy(Path file, ByteBuffer original, TfLiteFile model, List<Integer> order)
                throws TfLiteFormatException {
            this.file = file;
            this.original = original;
            edit = OperatorOrderEdit.of(original, file.toString(), order);
            wanted = model.withOrder(order);
        }

        /**
         * Returns the copy, which is made if there is none that is intact.
         *
         * @throws IOException if it cannot be made
         */
        Path findOrMake(KeptFile kept) throws IOException, UnsupportedPlatformException {
            for (Path candidate : kept.candidates()) {
                if (isCopy(candidate)) {
                    return candidate;
                }
                logger.info("{} is not a copy of {}; to be made anew", candidate, file);
            }
            Path made = kept.replace(content());
            if (!isCopy(made)) {
                throw new IOException(made + " is not what was written");
            }
            return made;
        }

        private ByteSource content() {
            ByteSource all = MoreFiles.asByteSource(file);
            byte[] changed = new byte[edit.bytes().sizeBytes()];
            edit.bytes().buffer().get(changed);
            return ByteSource.concat(
                    all.slice(0, edit.offsetBytes()),
                    ByteSource.wrap(changed),
                    all.slice(edit.endBytes(), Long.MAX_VALUE));
        }

        private boolean isCopy(Path candidate) throws UnsupportedPlatformException {
            try (MappedFile copy = MappedFile.open(candidate)) {
                return hasBytes(copy.bytes())
                        && wanted.equals(TfLiteReader.read(copy.bytes(), candidate.toString()));
            } catch (TfLiteFormatException e) {
                return false;
            } catch (IOException e) {
                logger.debug("{} cannot be read", candidate, e);
                return false;
            }
        }

        private boolean hasBytes(ByteBuffer copy) {
            int begin = (int) edit.offsetBytes();
            int end = (int) edit.endBytes();
            return copy.limit() == original.limit()
                    && copy.slice(0, begin).equals(original.slice(0, begin))
                    && copy.slice(begin, end - begin).equals(edit.bytes().buffer())
                    && copy.slice(end, copy.limit() - end)
                            .equals(original.slice(end, original.limit() - end));
        }
    }
}
