package org.djlplan.memplan.internal.planning;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import org.djlplan.memplan.graph.FileRegion;
import org.djlplan.memplan.internal.budget.StepCosts;
import org.djlplan.memplan.internal.budget.StreamedGraph;
import org.djlplan.memplan.internal.budget.StreamingPlanner;
import org.djlplan.memplan.internal.budget.WeightUse;
import org.djlplan.memplan.internal.runtime.MappedFile;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;
import org.djlplan.memplan.internal.runtime.WeightStream;
import org.djlplan.memplan.internal.runtime.tflite.OpenModel;
import org.djlplan.memplan.internal.runtime.tflite.StreamedInterpreter;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.internal.slicing.SlicedModel;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.thirdparty.guava.base.Throwables;
import org.djlplan.thirdparty.guava.util.concurrent.Uninterruptibles;

/**
 * Writes a copy of a model. The weights are loaded from this copy while the model runs. With
 * several threads, kernels derive constants from weights. One inference on zeros captures these
 * constants, which are written after the model.
 *
 * @param original the model's file
 * @param threads the engine's number of threads, −1 for its default
 */
record CopyWriter(Path original, int threads) {

    private static final int RELEASE_BYTES = 4 << 20;

    /**
     * Writes a copy.
     *
     * @param sliced the model to write
     * @param mapping of the original; its pages are released on the way
     * @param thread the thread that will run the copy
     * @return the offset of the derived constants in the file, in bytes; empty if there are none
     * @throws IOException if it cannot be written, or the engine cannot run it
     */
    OptionalLong write(Path file, SlicedModel sliced, MappedFile mapping, Executor thread)
            throws IOException {
        // The pages of the original are not needed again.
        long[] released = {0};
        TfLiteWriter.writePageAligned(
                sliced.file(),
                file,
                written -> {
                    if (written - released[0] >= RELEASE_BYTES) {
                        released[0] = written;
                        mapping.releasePages();
                    }
                });
        mapping.releasePages();
        if (threads == 1) {
            return OptionalLong.empty();
        }
        long begin = WeightUse.roundUp(Files.size(file));
        try (OpenModel copy = OpenModel.of(file);
                StreamedInterpreter interpreter =
                        StreamedInterpreter.open(
                                copy, threads, List.of(), WeightStream.Io.DIRECT)) {
            if (interpreter.derivedBytes() == 0) {
                return OptionalLong.empty();
            }
            StreamedGraph graph =
                    new StreamedGraph(
                            interpreter.graph(),
                            sliced.views(),
                            interpreter.derived(Optional.empty()));
            // The smallest arena: the filter and the constants derived from it are in memory
            // together, and no caller waits for this prediction.
            StepCosts costs = StepCosts.unknown(graph.steps());
            interpreter.schedule(graph.schedule(StreamingPlanner.tightest(graph.problem(costs))));
            capture(interpreter, file, begin, thread);
            try (RandomAccessFile whole = new RandomAccessFile(file.toFile(), "rw")) {
                // Pieces are whole pages.
                whole.setLength(begin + interpreter.derivedBytes());
            }
            StreamedGraph served =
                    new StreamedGraph(
                            interpreter.graph(),
                            sliced.views(),
                            interpreter.derived(Optional.of(begin)));
            for (FileRegion unread : served.unread()) {
                MappedFile.punch(file, unread);
            }
            return OptionalLong.of(begin);
        } catch (UnplannableException | UnsupportedPlatformException e) {
            throw new IOException(original + ": " + e.getMessage(), e);
        }
    }

    private static void capture(
            StreamedInterpreter interpreter, Path file, long begin, Executor thread)
            throws IOException {
        FutureTask<Void> capture =
                new FutureTask<>(
                        () -> {
                            interpreter.capture(file, begin);
                            return null;
                        });
        thread.execute(capture);
        try {
            Uninterruptibles.getUninterruptibly(capture);
        } catch (ExecutionException e) {
            Throwables.throwIfInstanceOf(e.getCause(), IOException.class);
            Throwables.throwIfUnchecked(e.getCause());
            throw new IOException(e.getCause());
        }
    }
}
