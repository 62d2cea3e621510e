package org.djlplan.cli.report;

import static org.djlplan.cli.report.PlanData.GSON;

import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.djlplan.cli.GeneratedPlans;

/** Reports with every possible part, from invented measurements. */
final class Parts {

    private static final long MIB = 1 << 20;

    private Parts() {}

    /** Returns a report with all parts. */
    static JsonObject everything() {
        JsonObject report = PlanData.report("every part.tflite", GeneratedPlans.network(60));
        report.add(
                "machine",
                GSON.toJsonTree(
                        Map.of("cpu", "a processor", "cores", 2, "os", "Linux", "java", "17")));
        report.add(
                "memory",
                GSON.toJsonTree(
                        List.of(
                                Map.of("owner", "arena", "bytes", 3 * MIB / 2),
                                Map.of("owner", "inputs and outputs", "bytes", MIB / 3),
                                Map.of("owner", "packed weights", "bytes", 4 * MIB),
                                Map.of("owner", "delegate workspace", "bytes", MIB),
                                Map.of("owner", "mapped file", "bytes", 5 * MIB),
                                Map.of("owner", "unplanned", "bytes", MIB / 5))));
        report.add("delegation", GSON.toJsonTree(delegation()));
        report.add("budget", GSON.toJsonTree(budget()));
        report.add("models", models());
        report.add("workers", GSON.toJsonTree(Map.of("samples", workers())));
        report.add("run", GSON.toJsonTree(run()));
        return report;
    }

    private static Map<String, ?> delegation() {
        List<Object> operators = new ArrayList<>();
        List<List<Integer>> partitions = List.of(new ArrayList<>(), new ArrayList<>());
        for (int i = 0; i < 60; i++) {
            boolean delegated = i % 30 > 2 && i % 30 < 27;
            if (delegated) {
                partitions.get(i / 30).add(i);
            }
            operators.add(
                    delegated
                            ? Map.of(
                                    "index",
                                    i,
                                    "type",
                                    "CONV_2D",
                                    "runs",
                                    "delegate",
                                    "reason",
                                    "faster by 1.2 ms",
                                    "partition",
                                    i / 30,
                                    "nanos",
                                    90_000 + i)
                            : Map.of(
                                    "index",
                                    i,
                                    "type",
                                    "RESHAPE",
                                    "runs",
                                    "cpu",
                                    "reason",
                                    "the delegate does not support it",
                                    "nanos",
                                    4_000));
        }
        return Map.of(
                "origin",
                "measured on this machine",
                "loads",
                List.of("memplan.threads=1"),
                "measuredAnewBy",
                List.of("memplan.threads", "delegation.maxMemory"),
                "operators",
                operators,
                "partitions",
                partitions.stream()
                        .map(each -> Map.of("operators", each, "bytesCrossing", 96_000))
                        .toList(),
                "candidates",
                List.of(
                        candidate("CPU kernels", 64.2, 12, 1, true, false),
                        candidate("partition 0", 31.0, 15, 1, true, false),
                        candidate("partition 1", 40.5, 16, 1, false, false),
                        candidate("all partitions", 9.3, 19, 1, true, true),
                        candidate("all partitions", 6.1, 27, 2, true, false)),
                "outputs",
                List.of(
                        output("landmarks", 3e-6, 2e-7, 1e-3),
                        output("presence", 0, 0, 1e-3),
                        output("handedness", 8e-5, 3e-7, 1e-3)));
    }

    private static Map<String, ?> candidate(
            String name, double millis, int mib, int threads, boolean pareto, boolean chosen) {
        return Map.of(
                "name",
                name,
                "partitions",
                List.of(0),
                "threads",
                threads,
                "latencyNanos",
                millis * 1e6,
                "lowNanos",
                millis * .95e6,
                "highNanos",
                millis * 1.08e6,
                "memoryBytes",
                mib * MIB,
                "pareto",
                pareto,
                "chosen",
                chosen,
                "verified",
                threads == 1);
    }

    private static Map<String, ?> output(
            String name, double difference, double noise, double limit) {
        return Map.of("name", name, "difference", difference, "noise", noise, "limit", limit);
    }

    private static Map<String, ?> budget() {
        List<Object> points = new ArrayList<>();
        points.add(
                Map.of(
                        "budgetBytes",
                        2 * MIB,
                        "refused",
                        "operator 7 alone needs 2.4 MiB: CONV_2D"));
        for (int mib = 3; mib <= 14; mib += 1) {
            double ratio = 1 + 3.0 / (mib * mib);
            points.add(
                    Map.of(
                            "budgetBytes",
                            mib * MIB,
                            "peakBytes",
                            mib * MIB - 40_000,
                            "latencyRatio",
                            ratio,
                            "lowRatio",
                            ratio * .97,
                            "highRatio",
                            ratio * 1.04,
                            "stallNanos",
                            6e6 / mib,
                            "binds",
                            "operator 12: FULLY_CONNECTED",
                            "pinnedBytes",
                            mib * MIB / 3,
                            "sliced",
                            mib < 6,
                            "resident",
                            resident(mib)));
        }
        return Map.of(
                "stockPeakBytes",
                14 * MIB,
                "stockLatencyNanos",
                9_300_000,
                "leastBytes",
                3 * MIB,
                "points",
                points);
    }

    private static Map<String, ?> resident(long mib) {
        List<Long> nanos = new ArrayList<>();
        List<Long> bytes = new ArrayList<>();
        List<Object> loads = new ArrayList<>();
        List<Object> evictions = new ArrayList<>();
        for (int i = 0; i < 24; i++) {
            nanos.add(i * 400_000L);
            bytes.add(mib * MIB / 2 + (i % 5) * mib * MIB / 12);
            Map<String, ?> event =
                    Map.of("at", i * 400_000L, "bytes", MIB / 4, "name", "weights " + i);
            (i % 5 == 0 ? evictions : loads).add(event);
        }
        return Map.of(
                "nanos", nanos,
                "bytes", bytes,
                "loads", loads,
                "evictions", evictions,
                "stalls", List.of(Map.of("at", 2_100_000, "nanos", 700_000)));
    }

    private static com.google.gson.JsonArray models() {
        com.google.gson.JsonArray models = new com.google.gson.JsonArray();
        for (int tensors : new int[] {60, 40, 90}) {
            JsonObject plan = PlanData.plan(GeneratedPlans.network(tensors), 3);
            JsonObject model = new JsonObject();
            model.addProperty("name", "network of " + tensors);
            model.add("arenaBytes", best(plan).get("totalBytes"));
            model.addProperty("usedFrom", "two threads");
            model.add("plan", plan);
            models.add(model);
        }
        return models;
    }

    private static JsonObject best(JsonObject plan) {
        for (var strategy : plan.getAsJsonArray("strategies")) {
            if (strategy.getAsJsonObject().get("name").equals(plan.get("best"))) {
                return strategy.getAsJsonObject();
            }
        }
        throw new AssertionError();
    }

    private static List<?> workers() {
        SplittableRandom random = new SplittableRandom(3);
        List<Object> samples = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            int wanted = (int) (4 + 4 * Math.sin(i / 15.0) + random.nextInt(3));
            samples.add(
                    Map.of(
                            "nanos", i * 5_000_000L,
                            "busy", Math.min(4, wanted),
                            "waiting", Math.max(0, wanted - 4)));
        }
        return samples;
    }

    private static Map<String, ?> run() {
        return Map.of(
                "ways",
                List.of(way("stock", 10.2, 26), way("planned", 9.6, 9), way("delegated", 3.1, 12)));
    }

    private static Map<String, ?> way(String name, double millis, long mib) {
        SplittableRandom random = new SplittableRandom(name.hashCode());
        List<Double> latencies = new ArrayList<>();
        List<Object> resident = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            double slow = random.nextInt(20) == 0 ? 1.3 : 1;
            latencies.add(millis * 1e6 * slow * (1 + random.nextDouble() / 8));
            resident.add(
                    Map.of(
                            "nanos",
                            i * 10_000_000L,
                            "bytes",
                            (120 + mib) * MIB + (i % 10) * mib * MIB / 20));
        }
        return Map.of(
                "name", name,
                "latencyNanos", latencies,
                "pageFaults", mib * 300,
                "resident", resident,
                "figures", Map.of("bytes copied", "1.2 MB", "interpreters", 2));
    }

    /** Returns a study of two partitions, as the study command writes it. */
    static JsonObject study() {
        List<Object> sets =
                List.of(
                        set("CPU kernels", List.of(), 90),
                        set("1 of 2", List.of(1), 110),
                        set("2 of 2", List.of(2), 60),
                        Map.of("set", "a <part> of 2", "partitions", List.of(2), "whole", false),
                        set("all", List.of(1, 2), 40.5));
        Map<String, Object> table =
                Map.of(
                        "title", "Partitions",
                        "heading", List.of("", "operators", "CPU", "note"),
                        "rows", List.of(List.of("1", "4", "20.000 ms", "predicts best")),
                        "notes", List.of("Spearman's rank correlation."));
        Map<String, Object> study =
                Map.of(
                        "heading", "net: 12 operators, 2 partitions, threads: 2",
                        "verdict", List.of("best: all, 40.500 ms", "chosen by a usual run: all"),
                        "sets", sets,
                        "partitions",
                                List.of(
                                        Map.of(
                                                "partition", 1,
                                                "cpuMillis", 20,
                                                "delegateMillis", 40),
                                        Map.of(
                                                "partition", 2,
                                                "cpuMillis", 30,
                                                "delegateMillis", 10)),
                        "tfLiteFirstN", List.of(sets.get(1), sets.get(4)),
                        "best", sets.get(4),
                        "chosen", sets.get(4),
                        "tables", List.of(table));
        return GSON.toJsonTree(Map.of("format", 1, "title", "net", "study", study))
                .getAsJsonObject();
    }

    private static Map<String, Object> set(String name, List<Integer> partitions, double millis) {
        return Map.of("set", name, "partitions", partitions, "whole", true, "medianMillis", millis);
    }
}
