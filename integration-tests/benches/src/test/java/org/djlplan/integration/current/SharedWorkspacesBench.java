package org.djlplan.integration.current;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.djlplan.integration.bench.Rounds;
import org.djlplan.integration.support.Bits;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.Delegated;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Serves delegated models in turn, and compares models whose workspaces share pages with models
 * that each have their own workspace: memory, and latency in rounds that alternate.
 */
@Tag("bench")
@Tag("djl-current")
class SharedWorkspacesBench {

    private static final int ROUNDS = Integer.getInteger("djlplan.bench.rounds", 101);
    private static final int RUNS_AT_ONCE = 10;
    private static final String ALONE = "alone";
    private static final String SHARED = "shared";

    private static final List<String> DELEGATES =
            List.of(Delegates.XNNPACK, Delegates.XNNPACK_TRANSIENT);

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
        for (String delegate : DELEGATES) {
            System.out.printf(
                    Locale.ROOT,
                    "%-20s alone %.1f MB, shared %.1f MB%n",
                    delegate,
                    bytes(delegate, false) / 1e6,
                    bytes(delegate, true) / 1e6);
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
        if (result.exitCode() != 0) {
            throw new IllegalStateException(result.printed());
        }
        return result.out()
                .lines()
                .filter(line -> line.startsWith("bytes "))
                .mapToLong(line -> Long.parseLong(line.substring("bytes ".length())))
                .sum();
    }

    /** A model that is open twice, and its inputs. */
    private record Pair(String name, ServedModel alone, ServedModel shared, List<ByteBuffer> inputs)
            implements AutoCloseable {

        static Pair of(Path file, String delegate) throws Exception {
            Delegated model = Delegated.all(file, delegate, 1);
            try (StockInterpreter engine = new StockInterpreter(file, 1)) {
                return new Pair(
                        file.getFileName().toString(),
                        model.open(false),
                        model.open(true),
                        engine.randomInputs(1));
            }
        }

        List<ByteBuffer> run(boolean isShared) {
            ServedModel model = isShared ? shared : alone;
            List<List<Integer>> shapes =
                    model.inputs().stream().map(input -> input.shape()).toList();
            return model.run(inputs, shapes).stream().map(OutputTensor::data).toList();
        }

        @Override
        public void close() {
            alone.close();
            shared.close();
        }
    }

    private static List<Pair> pairs(List<Path> files, String delegate) throws Exception {
        StockInterpreter.loadEngine();
        List<Pair> pairs = new ArrayList<>();
        for (Path file : files) {
            pairs.add(Pair.of(file, delegate));
        }
        return pairs;
    }

    /** Models take turns, too, so that shared pages are those of another model. */
    @Test
    void printLatency() throws Exception {
        for (String delegate : DELEGATES) {
            List<Pair> pairs = pairs(models(), delegate);
            for (Pair each : pairs) {
                Bits.assertSame(each.run(false), each.run(true), each.name);
                Pair other = pairs.get((pairs.indexOf(each) + 1) % pairs.size());
                new Rounds()
                        .step(ALONE, () -> each.run(false))
                        .step("another, shared", () -> other.run(true))
                        .step(SHARED, () -> each.run(true))
                        .run(ROUNDS, 0, 1)
                        .print(delegate + ", " + each.name, "ms", 1);
            }
            pairs.forEach(Pair::close);
        }
    }

    /** Runs two models, each on its own thread. */
    @Test
    void printAtOnce() throws Exception {
        List<Pair> two = pairs(models().subList(1, 3), Delegates.XNNPACK);
        ExecutorService threads = Executors.newFixedThreadPool(two.size());
        new Rounds()
                .step(ALONE, () -> atOnce(threads, two, false))
                .step(SHARED, () -> atOnce(threads, two, true))
                .run(ROUNDS / 2, 0, 1)
                .print("two at once, ten times", "ms", 1);
        threads.shutdown();
        two.forEach(Pair::close);
    }

    private static void atOnce(ExecutorService threads, List<Pair> pairs, boolean shared)
            throws Exception {
        List<Future<?>> running = new ArrayList<>();
        for (Pair each : pairs) {
            running.add(
                    threads.submit(
                            () -> {
                                for (int run = 0; run < RUNS_AT_ONCE; run++) {
                                    each.run(shared);
                                }
                            }));
        }
        for (Future<?> each : running) {
            each.get();
        }
    }
}
