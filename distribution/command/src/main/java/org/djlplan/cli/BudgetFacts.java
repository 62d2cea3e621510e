package org.djlplan.cli;

import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.OptionalLong;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.report.WeightIo;

/** The budget section of a model's report, as JSON. */
final class BudgetFacts {

    private BudgetFacts() {}

    static JsonObject toJson(BudgetReport report) {
        JsonObject json = new JsonObject();
        json.addProperty("budgetBytes", report.budgetBytes());
        json.addProperty("leastBudgetBytes", report.leastBudgetBytes());
        json.addProperty("arenaBytes", report.arenaBytes());
        json.addProperty("weightsBytes", report.weightsBytes());
        json.addProperty("pinnedBytes", report.pinnedBytes());
        json.addProperty("pieces", report.pieces());
        json.addProperty("slicedOperators", report.slicedOperators());
        json.addProperty("delegatedOperators", report.delegatedOperators());
        json.addProperty("delegatedBytes", report.delegatedBytes());
        json.addProperty("bytesLoadedPerPrediction", report.bytesLoadedPerPrediction());
        json.addProperty("predictedStallNanos", report.predictedStallNanos());
        json.add(
                "lastStallNanos",
                report.lastStallNanos().isPresent()
                        ? new JsonPrimitive(report.lastStallNanos().getAsLong())
                        : JsonNull.INSTANCE);
        json.addProperty("io", report.io().toString());
        return json;
    }

    /** Reads what {@link #toJson} writes. */
    static BudgetReport fromJson(JsonObject json) {
        JsonElement lastStall = json.get("lastStallNanos");
        return new BudgetReport(
                json.get("budgetBytes").getAsLong(),
                json.get("leastBudgetBytes").getAsLong(),
                json.get("arenaBytes").getAsLong(),
                json.get("weightsBytes").getAsLong(),
                json.get("pinnedBytes").getAsLong(),
                json.get("pieces").getAsInt(),
                json.get("slicedOperators").getAsInt(),
                json.get("delegatedOperators").getAsInt(),
                json.get("delegatedBytes").getAsLong(),
                json.get("bytesLoadedPerPrediction").getAsLong(),
                json.get("predictedStallNanos").getAsLong(),
                lastStall.isJsonNull()
                        ? OptionalLong.empty()
                        : OptionalLong.of(lastStall.getAsLong()),
                WeightIo.of(json.get("io").getAsString()).orElseThrow());
    }
}
