package org.djlplan.integration.budget;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.djlplan.integration.bench.Rounds;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.io.Closer;

/**
 * Runs contestants of one model in turns, each in its own process, with all files in the page
 * cache. The first contestant is the reference for latencies and outputs.
 */
final class Match {

    /**
     * A line of the table: one contestant's needs in bytes above the idle runtime.
     *
     * @param firstBytes peak of the load and the predictions in a process without stored results
     */
    record Figures(
            String name,
            long codeBytes,
            long firstBytes,
            long loadBytes,
            long peakBytes,
            double millis,
            Median ratio,
            String outputs) {

        static final String HEAD =
                String.format(
                        Locale.ROOT,
                        "%-40s %8s %8s %8s %8s %7s %9s  %-22s %s",
                        "MB above the idle runtime",
                        "code",
                        "1st run",
                        "load",
                        "predict",
                        "/first",
                        "ms",
                        "ratio (95 %)",
                        "outputs");

        String line(Figures reference) {
            return String.format(
                    Locale.ROOT,
                    "%-40s %8.1f %8.1f %8.1f %8.1f %7.3f %9.1f  %-22s %s",
                    name,
                    codeBytes / MILLION,
                    firstBytes / MILLION,
                    loadBytes / MILLION,
                    peakBytes / MILLION,
                    (double) mostBytes() / reference.mostBytes(),
                    millis,
                    ratio,
                    outputs);
        }

        /** Returns the peak of the load and the predictions. */
        long mostBytes() {
            return Math.max(loadBytes, peakBytes);
        }
    }

    private static final double MILLION = 1e6;
    private static final int SEEDS = 3;
    private static final int WARM_UP = 3;

    private final Path model;
    private final Path folder;
    private final int rounds;

    /**
     * @param folder on the disk of the model
     * @param rounds at least 15, so that the interval of the ratio means something
     */
    Match(Path model, Path folder, int rounds) {
        this.model = model;
        this.folder = folder;
        this.rounds = rounds;
    }

    /** Runs all contestants. */
    List<Figures> run(List<Contestant> contestants) throws Exception {
        Closer closer = Closer.create();
        try {
            List<Player> players = new ArrayList<>();
            for (Contestant contestant : contestants) {
                players.add(closer.register(new Player(contestant)));
            }
            List<byte[]> expected = players.get(0).outputs();
            for (Player player : players) {
                player.compare(expected);
                player.process.resetPeak();
            }
            Rounds turns = new Rounds();
            for (Player player : players) {
                turns.add(player.contestant.name(), player::millis);
            }
            // The bytes of the peak are those of single predictions.
            turns.run(rounds, 0, 1);
            ImmutableList.Builder<Figures> figures = ImmutableList.builder();
            for (Player player : players) {
                figures.add(player.figures(turns, contestants.get(0).name()));
            }
            return figures.build();
        } finally {
            closer.close();
        }
    }

    /** The process of one contestant, and its measurements. */
    private final class Player implements Closeable {

        private final Contestant contestant;
        private final ContestantProcess process;
        private final long codeBytes;
        private final long firstBytes;
        private final long loadBytes;
        private String outputs = "";

        Player(Contestant contestant) throws IOException, InterruptedException {
            this.contestant = contestant;
            Path own = Files.createTempDirectory(folder, "model").resolve(model.getFileName());
            Files.createLink(own, model);
            try (ContestantProcess first = start()) {
                first.ready();
                long loadedBytes = load(first, own);
                long[] unused = first.predictNanos(2);
                firstBytes = Math.max(loadedBytes, first.peakAboveIdleBytes());
            }
            process = start();
            codeBytes = process.ready();
            loadBytes = load(process, own);
        }

        private ContestantProcess start() throws IOException, InterruptedException {
            return ContestantProcess.start(contestant, model, folder, Optional.empty());
        }

        private static long load(ContestantProcess process, Path file)
                throws IOException, InterruptedException {
            process.resetPeak();
            long unused = process.loadNanos(file);
            return process.peakAboveIdleBytes();
        }

        List<byte[]> outputs() throws IOException, InterruptedException {
            List<byte[]> all = new ArrayList<>();
            for (int seed = 0; seed < SEEDS; seed++) {
                all.add(process.outputs(seed));
            }
            return all;
        }

        void compare(List<byte[]> expected) throws IOException, InterruptedException {
            List<byte[]> actual = outputs();
            double difference = 0;
            for (int i = 0; i < SEEDS; i++) {
                difference = Math.max(difference, difference(expected.get(i), actual.get(i)));
            }
            outputs = difference == 0 ? "same" : String.format(Locale.ROOT, "±%.0e", difference);
            long[] unused = process.predictNanos(WARM_UP);
        }

        /** Returns the largest difference of floats, relative to the largest float. */
        private static double difference(byte[] expected, byte[] actual) {
            if (Arrays.equals(expected, actual)) {
                return 0;
            }
            if (expected.length != actual.length) {
                return Double.NaN;
            }
            double difference = Float.MIN_VALUE;
            double largest = Float.MIN_VALUE;
            for (int i = 0; i < expected.length; i += Float.BYTES) {
                float value = floatAt(expected, i);
                difference = Math.max(difference, Math.abs(value - floatAt(actual, i)));
                largest = Math.max(largest, Math.abs(value));
            }
            return difference / largest;
        }

        private static float floatAt(byte[] bytes, int at) {
            return ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()).getFloat(at);
        }

        double millis(int times) throws IOException, InterruptedException {
            return Arrays.stream(process.predictNanos(times)).average().orElseThrow() / MILLION;
        }

        Figures figures(Rounds turns, String reference) throws IOException {
            String name = contestant.name();
            return new Figures(
                    name,
                    codeBytes,
                    firstBytes,
                    loadBytes,
                    process.peakAboveIdleBytes(),
                    turns.median(name),
                    Median.of(turns.ratios(name, reference)),
                    outputs);
        }

        @Override
        public void close() {
            process.close();
        }
    }
}
