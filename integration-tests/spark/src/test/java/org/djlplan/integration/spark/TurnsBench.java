package org.djlplan.integration.spark;

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.djlplan.cli.demo.MobileNetV2;
import org.djlplan.memplan.internal.child.ChildProcess;
import org.djlplan.memplan.internal.child.ChildProcess.Answer;
import org.djlplan.memplan.internal.child.JavaCommand;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.thirdparty.guava.math.Quantiles;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the tasks of {@link SparkBench} without Spark and without delegation, in two stock and two
 * planned JVMs that take turns every few seconds. A disturbance of half a minute therefore affects
 * both kinds.
 */
@Tag("bench")
class TurnsBench {

    private static final int SETS = 3;
    private static final int TURNS = 8;
    private static final int ROWS = 50;
    private static final int FIRST_ROWS = 250;
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    @TempDir Path folder;

    /** Two JVMs that stand for two executors. */
    private static final class Pair implements AutoCloseable {

        private final List<ChildProcess> both = new ArrayList<>();
        private long addedBytes;

        Pair(boolean oldDjl, Path model, List<String> options) throws IOException {
            List<String> command =
                    new ArrayList<>(
                            JavaCommand.of(
                                    JavaCommand.ofThisJvm(),
                                    List.of("-Xms1g", "-Xmx1g", "-XX:+AlwaysPreTouch"),
                                    Map.of(
                                            "ai.djl.offline",
                                            "true",
                                            "ai.djl.tflite.disable_alternative",
                                            "true"),
                                    SparkBench.classPath(oldDjl)));
            command.add(TaskProgram.class.getName());
            command.add(model.toString());
            command.addAll(options);
            for (int i = 0; i < 2; i++) {
                both.add(ChildProcess.start(new ProcessBuilder(command), line -> {}));
            }
        }

        /** Runs rows in both JVMs, and returns rows per second of both together. */
        double run(int rows) {
            long begin = System.nanoTime();
            List<CompletableFuture<Load.Share>> tasks =
                    both.stream()
                            .map(each -> CompletableFuture.supplyAsync(() -> ask(each, rows)))
                            .toList();
            for (CompletableFuture<Load.Share> task : tasks) {
                Load.Share share = task.join();
                addedBytes = Math.max(addedBytes, share.afterBytes() - share.beforeBytes());
            }
            return 2e9 * rows / (System.nanoTime() - begin);
        }

        private static Load.Share ask(ChildProcess executor, int rows) {
            JsonObject request = new JsonObject();
            request.addProperty("rows", rows);
            try {
                if (executor.ask(request, PATIENCE) instanceof Answer.Result result) {
                    return new Gson().fromJson(result.value(), Load.Share.class);
                }
            } catch (InterruptedException e) {
                throw new CompletionException(e);
            }
            throw new IllegalStateException(executor.lastErrorLines().toString());
        }

        @Override
        public void close() {
            both.forEach(ChildProcess::close);
        }
    }

    private static void compare(boolean oldDjl, Path model) throws IOException {
        List<String> options = new ArrayList<>(List.of("delegation.enabled", "false"));
        if (!oldDjl) {
            options.addAll(List.of("memplan.threads", "1"));
        }
        List<Double> ratios = new ArrayList<>();
        List<Double> stockRates = new ArrayList<>();
        List<Double> stockMegabytes = new ArrayList<>();
        List<Double> plannedMegabytes = new ArrayList<>();
        for (int set = 0; set < SETS; set++) {
            try (Pair stock = new Pair(oldDjl, model, List.of());
                    Pair planned = new Pair(oldDjl, model, options)) {
                double unusedStock = stock.run(FIRST_ROWS);
                double unusedPlanned = planned.run(FIRST_ROWS);
                for (int turn = 0; turn < TURNS; turn++) {
                    boolean stockBegins = turn % 2 == 0;
                    double one = (stockBegins ? stock : planned).run(ROWS);
                    double other = (stockBegins ? planned : stock).run(ROWS);
                    ratios.add(stockBegins ? other / one : one / other);
                    stockRates.add(stockBegins ? one : other);
                }
                stockMegabytes.add(stock.addedBytes / 1e6);
                plannedMegabytes.add(planned.addedBytes / 1e6);
            }
        }
        System.out.printf(
                Locale.ROOT,
                "%-24s DJL %s  %7.1f  %5.3f (%.3f to %.3f)  %5.1f  %5.1f%n",
                model.getFileName(),
                oldDjl ? "0.27.0" : "0.35.1",
                median(stockRates),
                median(ratios),
                Quantiles.quartiles().index(1).compute(ratios),
                Quantiles.quartiles().index(3).compute(ratios),
                median(stockMegabytes),
                median(plannedMegabytes));
    }

    private static double median(List<Double> values) {
        return Quantiles.median().compute(values);
    }

    @Test
    void print() throws IOException {
        Path mobileNet = folder.resolve("mobilenet_v2.tflite");
        TfLiteWriter.write(MobileNetV2.build(1), mobileNet);
        Path hand = folder.resolve("hand_landmark_full.tflite");
        Files.copy(SparkBench.MODELS.resolve("hand_landmark_full.tflite"), hand);
        System.out.println(
                "rows/s of stock, planned / stock (quartiles), MB added by stock and by planned");
        for (Path model : List.of(mobileNet, hand)) {
            compare(false, model);
            compare(true, model);
        }
    }
}
