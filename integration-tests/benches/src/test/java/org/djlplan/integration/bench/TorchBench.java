package org.djlplan.integration.bench;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.djlplan.integration.support.DjlPlanProcess;
import org.djlplan.integration.support.RealModels;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs {@code djlplan compare}, which starts fresh JVMs that take turns: TorchScript models against
 * glibc's allocator, tuned glibc and jemalloc; imperative DJL networks against stock. Prints
 * tables; asserts nothing, because machines are noisy.
 */
@Tag("bench")
class TorchBench {

    private static final String FRESH = System.getProperty("djlplan.bench.fresh", "5");

    private static final ImmutableList<String> NETWORKS =
            ImmutableList.of(
                    "mobilenet_v1",
                    "mobilenet_v2",
                    "resnet18",
                    "resnet50",
                    "squeezenet",
                    "googlenet",
                    "alexnet",
                    "vgg11",
                    "nin");

    @TempDir Path folder;

    private final Map<String, List<Double>> latencies = new TreeMap<>();

    @Test
    void printTorchScript() throws Exception {
        head();
        for (Path model : RealModels.TORCHSCRIPT.present()) {
            JsonObject json = compare(model.toString(), 1, "--against", "tuned-malloc,jemalloc");
            String name = model.getFileName().toString();
            print(name, "stock", json, json);
            json.getAsJsonObject("against")
                    .entrySet()
                    .forEach(other -> print(name, other.getKey(), json, other.getValue()));
        }
        printMeans();
    }

    @Test
    void printNetworks() throws Exception {
        head();
        for (String network : NETWORKS) {
            JsonObject json = compare("zoo:" + network, 1);
            print(network, "stock", json, json);
        }
        JsonObject batch = compare("zoo:resnet50", 8);
        print("resnet50, batch 8", "stock", batch, batch);
        printMeans();
    }

    private JsonObject compare(String model, int batch, String... options) throws Exception {
        List<String> arguments = new ArrayList<>(List.of("compare", "--json", "--threads", "1"));
        arguments.addAll(List.of("--warmup", "10", "--fresh", FRESH));
        arguments.addAll(List.of("--input-shape", batch + ",3,224,224"));
        arguments.addAll(List.of(options));
        arguments.add(model);
        DjlPlanProcess.Result result = DjlPlanProcess.run(folder, arguments.toArray(String[]::new));
        if (result.exitCode() != 0) {
            throw new IllegalStateException(model + ": " + result.err());
        }
        return result.json();
    }

    private static void head() {
        print(
                "%n%-28s %-14s %9s %7s %9s %7s %9s %9s %9s  %s%n",
                "model",
                "planned /",
                "arena MB",
                "/ bound",
                "ms",
                "faults",
                "latency",
                "peak",
                "above",
                "latency of each round");
    }

    /** Prints the planned model's figures, and its ratios to another one if that could be run. */
    private void print(String model, String other, JsonObject json, JsonElement comparison) {
        JsonObject planned = json.getAsJsonObject("planned");
        if (!comparison.isJsonObject()) {
            print("%-28s %-14s is not installed%n", model, other);
            return;
        }
        double latency = ratio(comparison, "medianMillis");
        latencies.computeIfAbsent(other, any -> new ArrayList<>()).add(latency);
        List<String> rounds = new ArrayList<>();
        if (comparison == json) {
            for (JsonElement run : json.getAsJsonArray("runs")) {
                rounds.add(String.format(Locale.ROOT, "%.3f", ratio(run, "medianMillis")));
            }
        }
        print(
                "%-28s %-14s %9.2f %7.4f %9.2f %7.1f %9.3f %9.3f %9.3f  %s%n",
                model,
                other,
                number(planned, "arenaBytes") / 1e6,
                number(planned, "arenaBytes") / number(planned, "lowerBoundBytes"),
                number(planned, "medianMillis"),
                number(planned, "pageFaultsPerInference"),
                latency,
                ratio(comparison, "peakBytes"),
                ratio(comparison, "peakAboveLoadedBytes"),
                rounds);
    }

    private void printMeans() {
        latencies.forEach(
                (other, all) ->
                        print(
                                "geometric mean of %d latencies, planned / %s: %.3f%n",
                                all.size(),
                                other,
                                Math.exp(
                                        all.stream()
                                                .mapToDouble(Math::log)
                                                .average()
                                                .orElse(Double.NaN))));
    }

    private static double number(JsonObject figures, String key) {
        JsonElement value = figures.get(key);
        return value == null || value.isJsonNull() ? Double.NaN : value.getAsDouble();
    }

    private static double ratio(JsonElement comparison, String key) {
        return number(comparison.getAsJsonObject().getAsJsonObject("ratios"), key);
    }

    private static void print(String format, Object... arguments) {
        System.out.printf(Locale.ROOT, format, arguments);
    }
}
