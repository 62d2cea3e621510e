package org.djlplan.memplan.cli;

import com.google.common.io.ByteStreams;
import com.google.gson.JsonArray;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Runs a model as stock and planned, each in a process of its own. All that happens once – loading,
 * outputs, warm-up – is done one process at a time; then the two take turns at being timed, so that
 * whatever else the machine does hits both.
 */
final class Comparer {

    private final PrintWriter messages;

    /**
     * @param messages gets what the processes wrote on their error streams
     */
    Comparer(PrintWriter messages) {
        this.messages = messages;
    }

    /**
     * Compares.
     *
     * @param rounds number of turns that the timed predictions are spread over
     * @throws Failure if one of the runs fails
     */
    Comparison compare(RunOptions options, int rounds) throws IOException {
        if (options.model() instanceof ModelRef.OfFile file) {
            readThrough(file.readable());
        }
        Path stockFile = Files.createTempFile("djlplan", ".stock");
        Path plannedFile = Files.createTempFile("djlplan", ".planned");
        try (WorkerProcess stock = WorkerProcess.start("stock", options, true)) {
            JsonArray stockLayout = prepare(stock, stockFile);
            try (WorkerProcess planned = WorkerProcess.start("planned", options, false)) {
                JsonArray plannedLayout = prepare(planned, plannedFile);
                time(options.effort().iterations(), rounds, stock, planned);
                RunFigures stockFigures = stock.figures().named(options.modelName());
                RunFigures plannedFigures = planned.figures().named(options.modelName());
                stock.lastErrorLines().forEach(line -> messages.println("stock: " + line));
                planned.lastErrorLines().forEach(line -> messages.println("planned: " + line));
                messages.flush();
                return new Comparison(
                        stockFigures,
                        plannedFigures,
                        OutputDifference.between(
                                stockFile, stockLayout, plannedFile, plannedLayout));
            }
        } finally {
            Files.deleteIfExists(stockFile);
            Files.deleteIfExists(plannedFile);
        }
    }

    private static JsonArray prepare(WorkerProcess worker, Path outputs) {
        worker.awaitLoaded();
        JsonArray layout = worker.writeOutputs(outputs);
        worker.warmUp();
        return layout;
    }

    private static void time(int iterations, int rounds, WorkerProcess... workers) {
        for (int round = 0; round < rounds; round++) {
            // Differences of rounded products add up to exactly the iterations asked for.
            long next = (long) iterations * (round + 1) / rounds;
            int count = Math.toIntExact(next - (long) iterations * round / rounds);
            for (int i = 0; i < workers.length && count > 0; i++) {
                // Who goes first alternates, as the first may find the machine in another state.
                workers[(i + round) % workers.length].time(count);
            }
        }
    }

    /** Puts the model's file into the page cache, so that both loads find it there. */
    private static void readThrough(Path model) throws IOException {
        try (InputStream in = Files.newInputStream(model)) {
            ByteStreams.copy(in, OutputStream.nullOutputStream());
        }
    }
}
