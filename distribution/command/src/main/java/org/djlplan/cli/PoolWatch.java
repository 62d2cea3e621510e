package org.djlplan.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
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

    private final List<Sample> samples = new ArrayList<>();
    private final long start = System.nanoTime();
    private final Thread sampler = new Thread(this::sample, "djl-plan-pool-samples");

    /**
     * Observations of a pool.
     *
     * @param samples over time
     * @param memory by purpose; empty if the memory of the process is unknown
     */
    record Seen(List<Sample> samples, List<Owner> memory) {}

    /** How many forward passes run and wait. */
    record Sample(long nanos, int busy, int waiting) {}

    /** The bytes of one purpose. */
    record Owner(String owner, long bytes) {}

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
     */
    static Seen of(ModelRun measurement, int threads, int count, Optional<Path> file)
            throws InterruptedException, IOException {
        List<Sample> samples;
        try (PoolWatch watch = new PoolWatch()) {
            measurement.runAtOnce(threads, count);
            samples = watch.end();
        }
        OptionalLong grown = measurement.grownBytes();
        return new Seen(
                samples,
                grown.isPresent()
                        ? owners(grown.getAsLong(), measurement.report(), file)
                        : List.of());
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
        samples.add(new Sample(System.nanoTime() - start, workers.busy(), workers.waiting()));
    }

    private List<Sample> end() throws InterruptedException {
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
    private static List<Owner> owners(
            long grownBytes, Optional<PlanReport> report, Optional<Path> file) throws IOException {
        PoolReport pools = PlannedModels.pools();
        List<Owner> owners = new ArrayList<>();
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

    private static long add(List<Owner> owners, String name, long bytes) {
        if (bytes > 0) {
            owners.add(new Owner(name, bytes));
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
