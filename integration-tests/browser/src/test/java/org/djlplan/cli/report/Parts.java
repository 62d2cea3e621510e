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
              "reason": "measured on this machine",
              "loads": {"memplan.threads": "1"},
              "entries": [
               {"kind": "measured", "set": "CPU kernels", "threads": 1, "medianMillis": 64.2,
                "lowMillis": 60.99, "highMillis": 69.336, "memoryBytes": 12582912,
                "paretoFront": true, "chosen": false, "errors": []},
               {"kind": "measured", "set": "1 of 2", "threads": 1, "medianMillis": 31,
                "lowMillis": 29.45, "highMillis": 33.48, "memoryBytes": 15728640,
                "paretoFront": true, "chosen": false, "errors": []},
               {"kind": "measured", "set": "all", "threads": 1, "medianMillis": 9.3,
                "lowMillis": 8.835, "highMillis": 10.044, "memoryBytes": 19922944,
                "paretoFront": true, "chosen": true, "errors": [
                 {"output": "landmarks", "difference": 3e-6, "noise": 2e-7, "limit": 1e-3},
                 {"output": "presence", "difference": 0, "noise": 0, "limit": 1e-3}]},
               {"kind": "measured", "set": "all", "threads": 2, "medianMillis": 9.9,
                "lowMillis": 9.405, "highMillis": 10.692, "memoryBytes": 28311552,
                "paretoFront": false, "chosen": false, "errors": []},
               {"kind": "failed", "set": "2 of 2", "threads": 1, "failure": "CRASHED",
                "message": "SIGSEGV"}]},
             "budget": {"stock": {"peakAboveIdleBytes": 14680064, "medianMillis": 9.3},
              "leastBudgetBytes": 3145728, "budgets": [
               {"name": "2MiB", "budgetBytes": 2097152,
                "refused": "operator 7 alone needs 2.4 MiB: CONV_2D"}]}}
            """;

    private Parts() {}

    /** Returns a report with all parts. */
    static JsonObject everything() {
        JsonObject report = PlanData.report("every part.tflite", GeneratedPlans.network(60));
        JsonObject parts = JsonParser.parseString(PARTS).getAsJsonObject();
        JsonObject delegation = parts.getAsJsonObject("delegation");
        delegation.add("explanation", list(60, Parts::operator));
        delegation.add(
                "partitions", list(2, i -> IntStream.range(30 * i + 3, 30 * i + 27).toArray()));
        parts.getAsJsonObject("budget").getAsJsonArray("budgets").addAll(list(12, Parts::budget));
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
                        {"operator": %d, "type": "CONV_2D", "delegated": true,
                         "verdict": "delegated", "reason": ""}
                        """,
                        i)
                : object(
                        """
                        {"operator": %d, "type": "RESHAPE", "delegated": false,
                         "verdict": "unsupported", "reason": "the delegate does not support it"}
                        """,
                        i);
    }

    private static JsonObject budget(int i) {
        long bytes = (i + 3) * MIB;
        double ratio = 1 + 3.0 / ((i + 3) * (i + 3));
        JsonObject point =
                object(
                        """
                        {"name": "%d MiB", "budgetBytes": %d, "peakAboveIdleBytes": %d,
                         "warm": {"median": %f, "low": %f, "high": %f},
                         "report": {"lastStallNanos": %d, "pinnedBytes": %d, "slicedOperators": 2}}
                        """,
                        i + 3,
                        bytes,
                        bytes - 40_000,
                        ratio,
                        ratio * .97,
                        ratio * 1.04,
                        6_000_000 / (i + 3),
                        bytes / 3);
        Map<String, ?> weights =
                Map.of(
                        "nanos",
                        24 * 400_000,
                        "pinnedBytes",
                        bytes / 3,
                        "binding",
                        "operator 12: FULLY_CONNECTED",
                        "changes",
                        list(22, Parts::change),
                        "stalls",
                        List.of(Map.of("nanos", 2_100_000, "waitNanos", 700_000)));
        point.add("weights", GSON.toJsonTree(weights));
        return point;
    }

    private static Map<String, ?> change(int i) {
        long bytes = (i % 2 == 0 ? 1 : -1) * MIB / 4;
        return Map.of("nanos", (i + 1) * 400_000, "bytes", bytes, "operator", "weights " + i);
    }

    private static JsonObject model(int i) {
        JsonObject plan =
                GeneratedPlans.report("", GeneratedPlans.network(40 + 20 * i), "greedy-by-size")
                        .getAsJsonObject("plan");
        long bytes =
                MapPixels.strategy(plan, plan.get("best").getAsString())
                        .get("totalBytes")
                        .getAsLong();
        JsonObject model = object("{\"name\": \"network %d\", \"arenaBytes\": %d}", i, bytes);
        model.add("plan", plan);
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
