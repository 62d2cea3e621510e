package org.djlplan.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.portfolio.EvaluatedPlan;
import org.djlplan.memplan.internal.runtime.torch.OperatorNames;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * The plan, the operators and the shapes of a recorded prediction's allocations, as JSON between
 * processes.
 */
final class AllocationFacts {

    private AllocationFacts() {}

    static JsonObject toJson(EvaluatedPlan planned) {
        JsonArray records = new JsonArray();
        for (UsageRecord record : planned.plan().problem().records()) {
            JsonArray row = new JsonArray();
            row.add(record.tensor());
            row.add(record.first());
            row.add(record.last());
            row.add(record.bytes());
            row.add(planned.plan().offsetOf(record.tensor()));
            records.add(row);
        }
        JsonObject json = new JsonObject();
        json.addProperty("strategy", planned.plan().strategy());
        json.addProperty("provedMinimal", planned.provedMinimal());
        json.add("records", records);
        return json;
    }

    /** Reads what {@link #toJson} writes. */
    static EvaluatedPlan fromJson(JsonObject json) {
        List<UsageRecord> records = new ArrayList<>();
        List<Long> offsets = new ArrayList<>();
        for (JsonElement element : json.getAsJsonArray("records")) {
            JsonArray row = element.getAsJsonArray();
            records.add(
                    new UsageRecord(
                            row.get(0).getAsInt(),
                            row.get(1).getAsInt(),
                            row.get(2).getAsInt(),
                            row.get(3).getAsLong()));
            offsets.add(row.get(4).getAsLong());
        }
        return EvaluatedPlan.of(
                OffsetPlan.ofUnits(
                        json.get("strategy").getAsString(),
                        new PlanningProblem(records),
                        offsets.stream().mapToLong(offset -> offset).toArray()),
                json.get("provedMinimal").getAsBoolean());
    }

    static JsonArray toJson(List<OperatorNames.Named> allocations) {
        JsonArray rows = new JsonArray();
        for (OperatorNames.Named allocation : allocations) {
            JsonArray row = new JsonArray();
            row.add(allocation.bytes());
            row.add(allocation.operator());
            allocation
                    .shape()
                    .ifPresent(
                            shape -> {
                                JsonArray sizes = new JsonArray();
                                shape.forEach(sizes::add);
                                row.add(sizes);
                            });
            rows.add(row);
        }
        return rows;
    }

    /** Reads what {@link #toJson(List)} writes. */
    static List<OperatorNames.Named> named(JsonArray rows) {
        List<OperatorNames.Named> allocations = new ArrayList<>();
        for (JsonElement element : rows) {
            JsonArray row = element.getAsJsonArray();
            Optional<List<Integer>> shape =
                    row.size() < 3
                            ? Optional.empty()
                            : Optional.of(
                                    row.get(2).getAsJsonArray().asList().stream()
                                            .map(JsonElement::getAsInt)
                                            .toList());
            allocations.add(
                    new OperatorNames.Named(
                            row.get(0).getAsLong(), row.get(1).getAsString(), shape));
        }
        return allocations;
    }

    /**
     * Returns the operator and shape of each planned allocation, by its number.
     *
     * @param allocations all allocations of a prediction that used the plan
     * @throws Failure if they differ from the planned ones
     */
    static ImmutableMap<Integer, OperatorNames.Named> planned(
            PlanningProblem planned, List<OperatorNames.Named> allocations) {
        ImmutableMap.Builder<Integer, OperatorNames.Named> known = ImmutableMap.builder();
        for (UsageRecord record : planned.records()) {
            int number = record.tensor();
            if (number >= allocations.size()
                    || UsageRecords.alignedBytes(allocations.get(number).bytes())
                            != record.bytes()) {
                throw new Failure("the prediction allocated otherwise than recorded");
            }
            known.put(number, allocations.get(number));
        }
        return known.buildOrThrow();
    }
}
