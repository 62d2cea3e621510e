package org.djlplan.integration.bench;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.djlplan.integration.support.DjlPlanProcess;
import org.djlplan.integration.support.RealModels;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs {@code djlplan compare} in fresh JVMs: TorchScript models against glibc's allocator, tuned
 * glibc and jemalloc; imperative DJL networks against stock. Prints tables; asserts nothing,
 * because machines are noisy.
 */
@Tag("bench")
class TorchBench {

    private static final int FRESH = Integer.getInteger("djlplan.bench.fresh", 5);
    private static final double MEBI = 1024 * 1024;

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

    @Test
    void printTorchScript() throws Exception {
        print(
                "%-14s %9s %7s %8s %7s %7s %7s %7s %7s %7s %7s %7s %7s  %s%n",
                "TorchScript",
                "arena MB",
                "/bound",
                "planned",
                "faults",
                "/glibc",
                "above",
                "/tuned",
                "peak",
                "above",
                "/jemal",
                "peak",
                "above",
                "planned/glibc of each round");
        List<Double> glibc = new ArrayList<>();
        List<Double> tuned = new ArrayList<>();
        List<Double> jemalloc = new ArrayList<>();
        for (Path model : RealModels.TORCHSCRIPT.present()) {
            JsonObject json =
                    compare(
                            model.toString(),
                            "--input-shape",
                            "1,3,224,224",
                            "--against",
                            "tuned-malloc,jemalloc");
            JsonObject planned = json.getAsJsonObject("planned");
            JsonObject against = json.getAsJsonObject("against");
            glibc.add(ratio(json, "medianMillis"));
            tuned.add(ratio(against.get("tuned-malloc"), "medianMillis"));
            jemalloc.add(ratio(against.get("jemalloc"), "medianMillis"));
            print(
                    "%-14s %9.2f %7.4f %8.2f %7.1f %7.3f %7.3f %s %s  %s%n",
                    model.getFileName().toString().replace(".pt", ""),
                    number(planned, "arenaBytes") / 1e6,
                    number(planned, "arenaBytes") / number(planned, "lowerBoundBytes"),
                    number(planned, "medianMillis"),
                    number(planned, "pageFaultsPerInference"),
                    glibc.get(glibc.size() - 1),
                    ratio(json, "peakAboveLoadedBytes"),
                    ratios(against.get("tuned-malloc")),
                    ratios(against.get("jemalloc")),
                    rounds(json));
        }
        print(
                "geometric means: %.3f of glibc, %.3f of tuned glibc, %.3f of jemalloc%n%n",
                mean(glibc), mean(tuned), mean(jemalloc));
    }

    @Test
    void printNetworks() throws Exception {
        print(
                "%-14s %6s %9s %9s %9s %7s %9s %7s %7s  %s%n",
                "imperative",
                "batch",
                "arena MB",
                "stock MiB",
                "peak MiB",
                "ratio",
                "planned",
                "/stock",
                "faults",
                "planned/stock of each round");
        List<Double> latencies = new ArrayList<>();
        for (String network : NETWORKS) {
            latencies.add(printNetwork(network, 1));
        }
        print("geometric mean: %.3f of stock%n", mean(latencies));
        printNetwork("resnet50", 8);
    }

    private double printNetwork(String network, int batch) throws Exception {
        JsonObject json = compare("zoo:" + network, "--input-shape", batch + ",3,224,224");
        JsonObject stock = json.getAsJsonObject("stock");
        JsonObject planned = json.getAsJsonObject("planned");
        print(
                "%-14s %6d %9.2f %9.1f %9.1f %7.3f %9.2f %7.3f %7.1f  %s%n",
                network,
                batch,
                number(planned, "arenaBytes") / 1e6,
                number(stock, "peakAboveLoadedBytes") / MEBI,
                number(planned, "peakAboveLoadedBytes") / MEBI,
                ratio(json, "peakAboveLoadedBytes"),
                number(planned, "medianMillis"),
                ratio(json, "medianMillis"),
                number(planned, "pageFaultsPerInference"),
                rounds(json));
        return ratio(json, "medianMillis");
    }

    private JsonObject compare(String model, String... options) throws Exception {
        List<String> arguments =
                new ArrayList<>(
                        List.of(
                                "compare",
                                "--json",
                                "--threads",
                                "1",
                                "--warmup",
                                "10",
                                "--fresh",
                                Integer.toString(FRESH)));
        arguments.addAll(List.of(options));
        arguments.add(model);
        DjlPlanProcess.Result result = DjlPlanProcess.run(folder, arguments.toArray(String[]::new));
        if (result.exitCode() != 0) {
            throw new IllegalStateException(model + ": " + result.err());
        }
        return result.json();
    }

    private static double number(JsonObject figures, String key) {
        JsonElement value = figures.get(key);
        return value == null || value.isJsonNull() ? Double.NaN : value.getAsDouble();
    }

    /** Returns NaN if the allocator is not installed. */
    private static double ratio(JsonElement comparison, String key) {
        return comparison.isJsonNull()
                ? Double.NaN
                : number(comparison.getAsJsonObject().getAsJsonObject("ratios"), key);
    }

    private static String ratios(JsonElement comparison) {
        return String.format(
                Locale.ROOT,
                "%7.3f %7.3f %7.3f",
                ratio(comparison, "medianMillis"),
                ratio(comparison, "peakBytes"),
                ratio(comparison, "peakAboveLoadedBytes"));
    }

    private static List<String> rounds(JsonObject json) {
        List<String> ratios = new ArrayList<>();
        for (JsonElement run : json.getAsJsonArray("runs")) {
            ratios.add(String.format(Locale.ROOT, "%.3f", ratio(run, "medianMillis")));
        }
        return ratios;
    }

    private static double mean(List<Double> ratios) {
        return Math.exp(ratios.stream().mapToDouble(Math::log).average().orElse(Double.NaN));
    }

    private static void print(String format, Object... arguments) {
        System.out.printf(Locale.ROOT, format, arguments);
    }
}
