package org.djlplan.cli.report;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.djlplan.memplan.internal.plan.portfolio.Attempt;
import org.djlplan.memplan.internal.plan.portfolio.Portfolio;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.OperatorProfiles;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.study.Strategies;
import org.djlplan.study.shared.SharedAttempt;
import org.djlplan.study.shared.SharedObjectsPlan;
import org.djlplan.study.shared.SharedObjectsPortfolio;
import org.djlplan.study.shared.SharedStrategies;

/** Reports of generated problems, planned by the project's strategies. */
final class PlanData {

    static final Gson GSON = new Gson();

    private static final List<String> TYPES =
            List.of("CONV_2D", "DEPTHWISE_CONV_2D", "ADD", "RELU6", "AVERAGE_POOL_2D", "RESHAPE");

    private PlanData() {}

    /** Returns a report that has only the plans of all strategies. */
    static JsonObject report(String title, PlanningProblem problem) {
        return report(title, problem, Strategies.offsets().size());
    }

    /**
     * @param strategies number of offset strategies that plan
     */
    static JsonObject report(String title, PlanningProblem problem, int strategies) {
        JsonObject report = new JsonObject();
        report.addProperty("format", 1);
        report.addProperty("djlPlan", "0.2.0");
        report.addProperty("title", title);
        report.add(
                "model",
                GSON.toJsonTree(Map.of("name", title, "engine", "records", "view", "csv")));
        report.add("plan", plan(problem, strategies));
        return report;
    }

    static JsonObject plan(PlanningProblem problem, int strategies) {
        List<UsageRecord> records = problem.records();
        int steps = records.stream().mapToInt(UsageRecord::last).max().orElse(-1) + 1;
        JsonArray operators = new JsonArray();
        JsonArray breadths = new JsonArray();
        OperatorProfiles profiles = new OperatorProfiles(records);
        for (int step = 0; step < steps; step++) {
            operators.add(TYPES.get(step % TYPES.size()));
            breadths.add(profiles.breadthAt(step));
        }
        JsonArray tensors = new JsonArray();
        records.forEach(record -> tensors.add(tensor(record, steps)));
        JsonObject plan = new JsonObject();
        plan.add("operators", operators);
        plan.add("tensors", tensors);
        plan.add("breadthBytes", breadths);
        plan.addProperty("naiveBytes", records.stream().mapToLong(UsageRecord::bytes).sum());
        plan.addProperty("lowerBoundBytes", LowerBounds.offsetBytes(records));
        plan.addProperty("sharedObjectsLowerBoundBytes", LowerBounds.sharedObjectBytes(records));
        JsonArray made = new JsonArray();
        made.add(naive(records));
        Portfolio portfolio =
                new Portfolio(
                        Strategies.offsets().subList(0, strategies), UsageRecords.ALIGNMENT_BYTES);
        List<Attempt> attempts = portfolio.attempts(List.of(problem));
        for (Attempt attempt : attempts) {
            if (!attempt.name().equals("naive")) {
                made.add(strategy(attempt, records));
            }
        }
        if (records.size() <= 1000) {
            new SharedObjectsPortfolio(SharedStrategies.all().subList(0, 2))
                    .attempts(List.of(problem))
                    .forEach(attempt -> made.add(shared(attempt, records)));
        }
        plan.add("strategies", made);
        plan.addProperty("best", Portfolio.smallest(attempts).orElseThrow().name());
        return plan;
    }

    private static JsonObject tensor(UsageRecord record, int steps) {
        int id = record.tensor();
        boolean edge = id == 0 || record.last() == steps - 1;
        JsonObject tensor = new JsonObject();
        tensor.addProperty("name", "block_" + id / 6 + "/" + TYPES.get(id % 6) + "/output_" + id);
        tensor.add("shape", GSON.toJsonTree(List.of(1, record.bytes() / 4)));
        tensor.addProperty("type", "float32");
        tensor.addProperty("bytes", record.bytes());
        tensor.addProperty("first", record.first());
        tensor.addProperty("last", record.last());
        tensor.addProperty("producer", record.first());
        tensor.add("consumers", GSON.toJsonTree(List.of(record.last())));
        tensor.addProperty("owner", edge ? "io" : id % 9 == 5 ? "temporary" : "arena");
        return tensor;
    }

    private static JsonObject naive(List<UsageRecord> records) {
        List<Long> offsets = new ArrayList<>();
        long end = 0;
        for (UsageRecord record : records) {
            offsets.add(end);
            end += record.bytes();
        }
        return strategy("naive", "naive", end, 0, false, offsets);
    }

    private static JsonObject strategy(Attempt attempt, List<UsageRecord> records) {
        List<Long> offsets =
                records.stream().map(record -> attempt.plan().offsetOf(record.tensor())).toList();
        return strategy(
                attempt.name(),
                "offsets",
                attempt.plan().totalBytes(),
                attempt.nanos() / 1e6,
                attempt.provedMinimal(),
                offsets);
    }

    /** Objects are laid end to end. */
    private static JsonObject shared(SharedAttempt attempt, List<UsageRecord> records) {
        SharedObjectsPlan plan = attempt.plan();
        JsonArray objects = new JsonArray();
        List<Long> begins = new ArrayList<>();
        long end = 0;
        for (long bytes : plan.objectBytes()) {
            begins.add(end);
            objects.add(GSON.toJsonTree(Map.of("offset", end, "bytes", bytes)));
            end += bytes;
        }
        List<Long> offsets =
                records.stream().map(record -> begins.get(plan.objectOf(record.tensor()))).toList();
        JsonObject strategy =
                strategy(
                        "shared objects: " + attempt.name(),
                        "shared-objects",
                        plan.totalBytes(),
                        1,
                        attempt.provedMinimal(),
                        offsets);
        strategy.add("objects", objects);
        return strategy;
    }

    private static JsonObject strategy(
            String name,
            String layout,
            long totalBytes,
            double millis,
            boolean provedMinimal,
            List<Long> offsets) {
        JsonObject strategy = new JsonObject();
        strategy.addProperty("name", name);
        strategy.addProperty("layout", layout);
        strategy.addProperty("totalBytes", totalBytes);
        strategy.addProperty("millis", millis);
        strategy.addProperty("valid", true);
        strategy.addProperty("provedMinimal", provedMinimal);
        strategy.add("offsets", GSON.toJsonTree(offsets));
        return strategy;
    }
}
