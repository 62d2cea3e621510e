package org.djlplan.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.internal.machine.SystemFile;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.report.PoolReport;

/**
 * Predicts on several threads at once, and records how many forward passes run and how many wait
 * over time. Afterwards it reports the memory of the process by purpose.
 */
final class PoolWatch implements AutoCloseable {

    private static final int MOST_SAMPLES = 20_000;
    private static final int KIBI = 1024;

    private final JsonArray samples = new JsonArray();
    private final long start = System.nanoTime();
    private final Thread sampler = new Thread(this::sample, "djl-plan-pool-samples");

    private PoolWatch() {
        sampler.setDaemon(true);
        sampler.start();
    }

    /**
     * Runs and watches.
     *
     * @param threads number of threads
     * @param count predictions per thread
     * @param file of the model, empty if the model is not a file
     * @return {@code samples} over time, and {@code memory} by owner, in bytes
     */
    static JsonObject of(ModelRun measurement, int threads, int count, Optional<Path> file)
            throws InterruptedException, IOException {
        JsonObject seen = new JsonObject();
        try (PoolWatch watch = new PoolWatch()) {
            measurement.runAtOnce(threads, count);
            seen.add("samples", watch.end());
        }
        OptionalLong grown = measurement.grownBytes();
        if (grown.isPresent()) {
            seen.add("memory", owners(grown.getAsLong(), measurement.report(), file));
        }
        return seen;
    }

    private void sample() {
        Optional<PoolReport.Workers> last = Optional.empty();
        try {
            while (samples.size() < MOST_SAMPLES) {
                PoolReport.Workers now = PlannedModels.pools().workers();
                if (last.isEmpty() || !last.get().equals(now)) {
                    add(now);
                    last = Optional.of(now);
                }
                Thread.sleep(1);
            }
        } catch (InterruptedException e) {
            // All have predicted.
            return;
        }
    }

    private void add(PoolReport.Workers workers) {
        JsonObject sample = new JsonObject();
        sample.addProperty("nanos", System.nanoTime() - start);
        sample.addProperty("busy", workers.busy());
        sample.addProperty("waiting", workers.waiting());
        samples.add(sample);
    }

    private JsonArray end() throws InterruptedException {
        close();
        sampler.join();
        add(PlannedModels.pools().workers());
        return samples;
    }

    @Override
    public void close() {
        sampler.interrupt();
    }

    /** The rest of the growth of the process has no known owner. */
    private static JsonArray owners(
            long grownBytes, Optional<PlanReport> report, Optional<Path> file) throws IOException {
        PoolReport pools = PlannedModels.pools();
        JsonArray owners = new JsonArray();
        long left = grownBytes;
        left -= add(owners, "arena", pools.arenas().bytes());
        left -= add(owners, "inputs and outputs", inputOutputBytes(report));
        left -= add(owners, "delegate workspace", pools.workspaces().bytes());
        left -= add(owners, "packed weights", pools.packedWeightsBytes());
        left -= add(owners, "mapped file", file.isPresent() ? residentBytes(file.get()) : 0);
        add(owners, "unplanned", Math.max(0, left));
        return owners;
    }

    private static long inputOutputBytes(Optional<PlanReport> report) {
        return report.map(
                        each ->
                                Math.max(1, each.interpreters().size())
                                        * each.plan().inputOutputBytes())
                .orElse(0L);
    }

    private static long add(JsonArray owners, String name, long bytes) {
        if (bytes > 0) {
            JsonObject owner = new JsonObject();
            owner.addProperty("owner", name);
            owner.addProperty("bytes", bytes);
            owners.add(owner);
        }
        return bytes;
    }

    /** Returns how many bytes of a mapped file are in memory. */
    private static long residentBytes(Path file) throws IOException {
        Path smaps = Path.of("/proc/self/smaps");
        if (!Files.isReadable(smaps)) {
            return 0;
        }
        String name = file.toRealPath().toString();
        List<String> lines = SystemFile.lines(smaps);
        long bytes = 0;
        boolean mapped = false;
        for (String line : lines) {
            if (line.startsWith("Rss:")) {
                bytes += mapped ? KIBI * Long.parseLong(line.replaceAll("\\D", "")) : 0;
            } else if (!line.contains(": ")) {
                mapped = line.endsWith(name);
            }
        }
        return bytes;
    }
}
