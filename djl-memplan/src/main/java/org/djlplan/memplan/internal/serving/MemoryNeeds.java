package org.djlplan.memplan.internal.serving;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.planning.StreamedCopies;
import org.djlplan.memplan.internal.runtime.MappedFile;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;
import org.djlplan.memplan.internal.runtime.tflite.EngineView;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Computes the memory that a model needs if it is served whole, and the least that it needs if its
 * weights are streamed. Both computations take a while, so each is done when its result is first
 * needed, and the result is kept. Thread-safe.
 */
final class MemoryNeeds {

    private static final Logger logger = LoggerFactory.getLogger(MemoryNeeds.class);

    private final Path model;
    private final PlanOptions options;
    private final StreamedCopies copies;
    private final long fileBytes;

    /** Changes with the monitor held. */
    private volatile OptionalLong stockBytes = OptionalLong.empty();

    /** Guarded by the monitor. */
    private OptionalLong leastBytes = OptionalLong.empty();

    /** Guarded by the monitor. */
    private Optional<Boolean> keepsState = Optional.empty();

    /**
     * @param copies of the model
     */
    MemoryNeeds(Path model, PlanOptions options, StreamedCopies copies) {
        this.model = model;
        this.options = options;
        this.copies = copies;
        fileBytes = copies.originalBytes();
    }

    /** Returns the size of the model's file. */
    long fileBytes() {
        return fileBytes;
    }

    /** Returns the stock engine's memory for the model, or 0 if it was not computed yet. */
    long knownStockBytes() {
        return stockBytes.orElse(0);
    }

    /**
     * Returns the stock engine's memory for the model: weights, the engine's arena, and data that
     * its kernels keep. The engine opens the model for this.
     *
     * @throws IOException if the model cannot be read, or was replaced since it was loaded
     * @throws UnplannableException if the engine cannot run it
     */
    synchronized long stockBytes() throws IOException, UnplannableException {
        if (stockBytes.isEmpty()) {
            copies.requireOriginal();
            EngineView stock = EngineView.of(model, options.threads());
            long kept =
                    stock.graph().tensors().stream()
                            .filter(tensor -> tensor.storage() == Storage.ENGINE)
                            .mapToLong(Tensor::bytes)
                            .sum();
            copies.requireOriginal();
            stockBytes = OptionalLong.of(fileBytes + stock.arenaBytes() + kept);
        }
        return stockBytes.getAsLong();
    }

    /**
     * Returns whether a budget has room for all of the stock engine's memory for the model.
     *
     * @param packedBytes the most that a delegate would take for packed weights
     * @throws IOException if the model cannot be read
     * @throws UnplannableException if the engine cannot run it
     */
    boolean hasRoomForAll(long budgetBytes, long packedBytes)
            throws IOException, UnplannableException {
        long besideBytes = bytesBesideArena() + packedBytes;
        // The size of the file mostly decides.
        return budgetBytes >= fileBytes + besideBytes && budgetBytes >= stockBytes() + besideBytes;
    }

    /**
     * Returns whether the model keeps values from one prediction to the next.
     *
     * @throws IOException if the model cannot be read
     * @throws UnplannableException if files cannot be mapped here
     */
    synchronized boolean keepsState() throws IOException, UnplannableException {
        if (keepsState.isEmpty()) {
            try (MappedFile mapping = copies.mapOriginal()) {
                TfLiteFile file = TfLiteReader.read(mapping.bytes(), model.toString());
                keepsState = Optional.of(file.keepsState());
            } catch (UnsupportedPlatformException e) {
                throw new UnplannableException(e.getMessage());
            }
        }
        return keepsState.get();
    }

    /** Returns the smallest budget in which the model can run. */
    synchronized long leastBytes() {
        if (leastBytes.isEmpty()) {
            long bytes;
            try {
                bytes =
                        bytesBesideArena()
                                + (keepsState() ? stockBytes() : copies.leastArenaBytes());
            } catch (IOException | UnplannableException e) {
                logger.debug("{} can only be served whole", model, e);
                bytes = stockBytes.orElse(fileBytes) + bytesBesideArena();
            }
            leastBytes = OptionalLong.of(bytes);
        }
        return leastBytes.getAsLong();
    }

    private long bytesBesideArena() {
        return BudgetedInterpreter.bytesBesideArena(options.threads());
    }
}
