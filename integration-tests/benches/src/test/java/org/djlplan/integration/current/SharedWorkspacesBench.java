package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.djlplan.integration.support.Bits;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.Delegated;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.internal.runtime.WorkspacePool;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Serves delegated models in turn, and compares models whose workspaces share pages with models
 * that each have their own workspace. Prints memory, and medians of rounds that alternate; asserts
 * that outputs are equal.
 */
@Tag("bench")
@Tag("djl-current")
class SharedWorkspacesBench {

    private static final int ROUNDS = 101;
    private static final int ROUNDS_AT_ONCE = 51;
    private static final int RUNS_AT_ONCE = 10;
    private static final double MB = 1e6;

    @TempDir Path folder;

    /** Returns the published models, or, if they are absent, as many generated ones. */
    private static List<Path> models() {
        List<Path> real =
                Stream.of(
                                "FaceAntiSpoofing",
                                "MobileFaceNet",
                                "hand_landmark_full",
                                "palm_detection_full",
                                "face_landmark")
                        .map(RealModels.TFLITE::file)
                        .toList();
        return real.stream().allMatch(Files::isRegularFile) ? real : TestModels.built();
    }

    @Test
    void printMemory() throws Exception {
        System.out.printf(Locale.ROOT, "%-20s %12s %12s%n", "", "alone MB", "shared MB");
        for (String delegate : List.of(Delegates.XNNPACK, Delegates.XNNPACK_TRANSIENT)) {
            System.out.printf(
                    Locale.ROOT,
                    "%-20s %12.1f %12.1f%n",
                    delegate,
                    bytes(delegate, false) / MB,
                    bytes(delegate, true) / MB);
        }
    }

    /** Returns the bytes that a separate JVM takes, whose heap does not grow. */
    private long bytes(String delegate, boolean shared) throws Exception {
        List<String> arguments = new ArrayList<>(List.of(delegate, Boolean.toString(shared)));
        arguments.add(TestModels.built("blaze_face").toString());
        models().forEach(file -> arguments.add(file.toString()));
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .small()
                        .options("-Xms256m", "-XX:+AlwaysPreTouch")
                        .options("-Ddjlplan.internal.sharedWorkspaces=" + shared)
                        .run(WorkspaceMemoryProgram.class, arguments.toArray(String[]::new));
        assertEquals(0, result.exitCode(), result::printed);
        return result.out()
                .lines()
                .filter(line -> line.startsWith("bytes "))
                .mapToLong(line -> Long.parseLong(line.substring("bytes ".length())))
                .sum();
    }

    @Test
    void printLatency() throws Exception {
        StockInterpreter.loadEngine();
        for (String delegate : List.of(Delegates.XNNPACK, Delegates.XNNPACK_TRANSIENT)) {
            System.out.printf(
                    Locale.ROOT,
                    "%-28s %10s %10s %8s%n",
                    delegate,
                    "alone ms",
                    "shared ms",
                    "ratio");
            List<Delegated> all = new ArrayList<>();
            for (Path file : models()) {
                all.add(Delegated.all(file, delegate, 1));
            }
            printLatency(all);
        }
    }

    private static void printLatency(List<Delegated> all) throws Exception {
        List<ServedModel> alone = new ArrayList<>();
        List<ServedModel> shared = new ArrayList<>();
        List<List<ByteBuffer>> inputs = new ArrayList<>();
        double[][][] millis = new double[2][all.size()][ROUNDS];
        try {
            for (Delegated model : all) {
                alone.add(model.open(false));
                shared.add(model.open(true));
                try (StockInterpreter engine = new StockInterpreter(model.file(), 1)) {
                    inputs.add(engine.randomInputs(1));
                }
            }
            for (int round = 0; round < ROUNDS; round++) {
                for (int i = 0; i < all.size(); i++) {
                    List<ByteBuffer> expected =
                            timed(alone.get(i), inputs.get(i), millis[0][i], round);
                    List<ByteBuffer> actual =
                            timed(shared.get(i), inputs.get(i), millis[1][i], round);
                    Bits.assertSame(expected, actual, all.get(i).file().toString());
                }
            }
        } finally {
            alone.forEach(ServedModel::close);
            shared.forEach(ServedModel::close);
        }
        for (int i = 0; i < all.size(); i++) {
            double own = median(millis[0][i]);
            double together = median(millis[1][i]);
            System.out.printf(
                    Locale.ROOT,
                    "%-28s %10.3f %10.3f %8.3f%n",
                    all.get(i).file().getFileName(),
                    own,
                    together,
                    together / own);
        }
    }

    /** Runs two models, each on its own thread. */
    @Test
    void printAtOnce() throws Exception {
        StockInterpreter.loadEngine();
        List<Delegated> two = new ArrayList<>();
        for (Path file : models().subList(1, 3)) {
            two.add(Delegated.all(file, Delegates.XNNPACK, 1));
        }
        double[][] millis = new double[2][ROUNDS_AT_ONCE];
        try (AtOnce alone = AtOnce.of(two, false);
                AtOnce shared = AtOnce.of(two, true)) {
            for (int round = 0; round < ROUNDS_AT_ONCE; round++) {
                millis[0][round] = alone.millis();
                millis[1][round] = shared.millis();
            }
            System.out.println(WorkspacePool.shared().metric());
        }
        System.out.printf(
                Locale.ROOT,
                "%-28s %10.3f %10.3f %8.3f%n",
                "two at once",
                median(millis[0]),
                median(millis[1]),
                median(millis[1]) / median(millis[0]));
    }

    private record AtOnce(
            List<ServedModel> models, List<List<ByteBuffer>> inputs, ExecutorService threads)
            implements AutoCloseable {

        static AtOnce of(List<Delegated> all, boolean shared) throws Exception {
            AtOnce made =
                    new AtOnce(
                            new ArrayList<>(),
                            new ArrayList<>(),
                            Executors.newFixedThreadPool(all.size()));
            for (Delegated model : all) {
                made.models.add(model.open(shared));
                try (StockInterpreter engine = new StockInterpreter(model.file(), 1)) {
                    made.inputs.add(engine.randomInputs(1));
                }
            }
            return made;
        }

        double millis() throws Exception {
            long start = System.nanoTime();
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < models.size(); i++) {
                int model = i;
                running.add(
                        threads.submit(
                                () -> {
                                    for (int run = 0; run < RUNS_AT_ONCE; run++) {
                                        SharedWorkspacesBench.run(
                                                models.get(model), inputs.get(model));
                                    }
                                }));
            }
            for (Future<?> each : running) {
                each.get();
            }
            return (System.nanoTime() - start) / 1e6;
        }

        @Override
        public void close() {
            threads.shutdown();
            models.forEach(ServedModel::close);
        }
    }

    private static List<ByteBuffer> run(ServedModel model, List<ByteBuffer> inputs) {
        List<List<Integer>> shapes = model.inputs().stream().map(input -> input.shape()).toList();
        return model.run(inputs, shapes).stream().map(OutputTensor::data).toList();
    }

    private static List<ByteBuffer> timed(
            ServedModel model, List<ByteBuffer> inputs, double[] millis, int round) {
        long start = System.nanoTime();
        List<ByteBuffer> outputs = run(model, inputs);
        millis[round] = (System.nanoTime() - start) / 1e6;
        return outputs;
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
