package org.djlplan.cli.report;

import static org.djlplan.cli.report.PlanData.GSON;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.djlplan.cli.GeneratedPlans;

/** Reports with every possible part, from invented measurements. */
final class Parts {

    private static final long MIB = 1 << 20;

    private static final String PARTS =
            """
            {"machine": {"cpu": "a processor", "cores": 2, "os": "Linux", "java": "17"},
             "memory": [
              {"owner": "arena", "bytes": 1572864},
              {"owner": "inputs and outputs", "bytes": 349525},
              {"owner": "packed weights", "bytes": 4194304},
              {"owner": "delegate workspace", "bytes": 1048576},
              {"owner": "mapped file", "bytes": 5242880},
              {"owner": "unplanned", "bytes": 209715}],
             "delegation": {
              "origin": "measured on this machine",
              "loads": ["memplan.threads=1"],
              "measuredAnewBy": ["memplan.threads", "delegation.maxMemory"],
              "candidates": [
               {"name": "CPU kernels", "threads": 1, "latencyNanos": 64200000, "lowNanos": 60990000,
                "highNanos": 69336000, "memoryBytes": 12582912, "pareto": true, "chosen": false,
                "verified": true},
               {"name": "partition 0", "threads": 1, "latencyNanos": 31000000, "lowNanos": 29450000,
                "highNanos": 33480000, "memoryBytes": 15728640, "pareto": true, "chosen": false,
                "verified": true},
               {"name": "all partitions", "threads": 1, "latencyNanos": 9300000, "lowNanos": 8835000,
                "highNanos": 10044000, "memoryBytes": 19922944, "pareto": true, "chosen": true,
                "verified": true},
               {"name": "all partitions", "threads": 2, "latencyNanos": 9900000, "lowNanos": 9405000,
                "highNanos": 10692000, "memoryBytes": 28311552, "pareto": false, "chosen": false,
                "verified": false}],
              "outputs": [
               {"name": "landmarks", "difference": 3e-6, "noise": 2e-7, "limit": 1e-3},
               {"name": "presence", "difference": 0, "noise": 0, "limit": 1e-3}]},
             "budget": {"stockPeakBytes": 14680064, "stockLatencyNanos": 9300000,
              "leastBytes": 3145728, "points": [
               {"budgetBytes": 2097152, "refused": "operator 7 alone needs 2.4 MiB: CONV_2D"}]}}
            """;

    private Parts() {}

    /** Returns a report with all parts. */
    static JsonObject everything() {
        JsonObject report = PlanData.report("every part.tflite", GeneratedPlans.network(60));
        JsonObject parts = JsonParser.parseString(PARTS).getAsJsonObject();
        JsonObject delegation = parts.getAsJsonObject("delegation");
        delegation.add("operators", list(60, Parts::operator));
        delegation.add(
                "partitions",
                list(
                        2,
                        i ->
                                Map.of(
                                        "operators",
                                        IntStream.range(30 * i + 3, 30 * i + 27).toArray(),
                                        "bytesCrossing",
                                        96_000)));
        parts.getAsJsonObject("budget").getAsJsonArray("points").addAll(list(12, Parts::budget));
        parts.add("models", list(3, Parts::model));
        parts.add("workers", GSON.toJsonTree(Map.of("samples", list(200, Parts::worker))));
        List<?> ways = List.of(way("stock", 10.2, 26), way("planned", 9.6, 9));
        parts.add("run", GSON.toJsonTree(Map.of("ways", ways)));
        parts.asMap().forEach(report::add);
        return report;
    }

    private static JsonArray list(int size, IntFunction<?> item) {
        return GSON.toJsonTree(IntStream.range(0, size).mapToObj(item).toArray()).getAsJsonArray();
    }

    private static JsonObject object(String json, Object... values) {
        return JsonParser.parseString(String.format(Locale.ROOT, json, values)).getAsJsonObject();
    }

    private static JsonObject operator(int i) {
        return i % 30 > 2 && i % 30 < 27
                ? object(
                        """
                        {"index": %d, "type": "CONV_2D", "runs": "delegate",
                         "reason": "faster by 1.2 ms", "partition": %d, "nanos": %d}
                        """,
                        i, i / 30, 90_000 + i)
                : object(
                        """
                        {"index": %d, "type": "RESHAPE", "runs": "cpu",
                         "reason": "the delegate does not support it", "nanos": 4000}
                        """,
                        i);
    }

    private static JsonObject budget(int i) {
        long bytes = (i + 3) * MIB;
        double ratio = 1 + 3.0 / ((i + 3) * (i + 3));
        JsonObject point =
                object(
                        """
                        {"budgetBytes": %d, "peakBytes": %d, "latencyRatio": %f, "lowRatio": %f,
                         "highRatio": %f, "stallNanos": %f, "binds": "operator 12: FULLY_CONNECTED",
                         "pinnedBytes": %d, "sliced": 2}
                        """,
                        bytes,
                        bytes - 40_000,
                        ratio,
                        ratio * .97,
                        ratio * 1.04,
                        6e6 / (i + 3),
                        bytes / 3);
        Map<String, ?> resident =
                Map.of(
                        "nanos", list(24, at -> at * 400_000),
                        "bytes", list(24, at -> bytes / 2 + at % 5 * bytes / 12),
                        "loads", list(19, at -> event(at + at / 4 + 1)),
                        "evictions", list(5, at -> event(5 * at)),
                        "stalls", List.of(Map.of("at", 2_100_000, "nanos", 700_000)));
        point.add("resident", GSON.toJsonTree(resident));
        return point;
    }

    private static Map<String, ?> event(int at) {
        return Map.of("at", at * 400_000, "bytes", MIB / 4, "name", "weights " + at);
    }

    private static JsonObject model(int i) {
        MemoryMap plan = GeneratedPlans.map(GeneratedPlans.network(40 + 20 * i), "greedy-by-size");
        long bytes = plan.bestStrategy().totalBytes();
        JsonObject model = object("{\"name\": \"network %d\", \"arenaBytes\": %d}", i, bytes);
        model.add("plan", Report.toJson(plan));
        return model;
    }

    private static Map<String, ?> worker(int i) {
        int wanted = (int) (4 + 4 * Math.sin(i / 15.0));
        return Map.of(
                "nanos", i * 5_000_000L,
                "busy", Math.min(4, wanted),
                "waiting", Math.max(0, wanted - 4));
    }

    private static Map<String, ?> way(String name, double millis, long mib) {
        SplittableRandom random = new SplittableRandom(name.hashCode());
        IntFunction<?> resident =
                i ->
                        Map.of(
                                "nanos",
                                i * 10_000_000L,
                                "bytes",
                                (120 + mib) * MIB + i % 10 * mib * MIB / 20);
        return Map.of(
                "name",
                name,
                "latencyNanos",
                list(200, i -> millis * 1e6 * (1 + random.nextDouble() / 8)),
                "pageFaults",
                mib * 300,
                "resident",
                list(200, resident));
    }
}
