package org.djlplan.memplan.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;
import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.plan.portfolio.EvaluatedPlan;
import org.djlplan.memplan.usage.PlanningProblem;
import org.djlplan.memplan.usage.UsageRecord;

/** The plan of a recorded prediction's allocations, as JSON from one process to another. */
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
}
