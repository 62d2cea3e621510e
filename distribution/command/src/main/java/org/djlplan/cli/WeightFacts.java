package org.djlplan.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;
import org.djlplan.memplan.internal.budget.ResidentWeights;
import org.djlplan.memplan.internal.budget.ResidentWeights.Change;
import org.djlplan.memplan.internal.budget.ResidentWeights.Stall;

/** The weights that are in memory at each time, as JSON between processes and for report pages. */
final class WeightFacts {

    private WeightFacts() {}

    static JsonObject toJson(ResidentWeights weights) {
        JsonArray changes = new JsonArray();
        weights.changes().forEach(c -> changes.add(row(c.nanos(), c.bytes(), c.operator())));
        JsonArray stalls = new JsonArray();
        weights.stalls().forEach(s -> stalls.add(row(s.nanos(), s.waitNanos(), s.operator())));
        JsonObject json = new JsonObject();
        json.addProperty("nanos", weights.nanos());
        json.addProperty("pinnedBytes", weights.pinnedBytes());
        json.add("changes", changes);
        json.add("stalls", stalls);
        json.addProperty("binding", weights.binding());
        return json;
    }

    private static JsonArray row(long nanos, long value, String operator) {
        JsonArray row = new JsonArray();
        row.add(nanos);
        row.add(value);
        row.add(operator);
        return row;
    }

    /** Reads what {@link #toJson} writes. */
    static ResidentWeights fromJson(JsonObject json) {
        List<Change> changes = new ArrayList<>();
        for (JsonElement each : json.getAsJsonArray("changes")) {
            JsonArray row = each.getAsJsonArray();
            changes.add(
                    new Change(
                            row.get(0).getAsLong(),
                            row.get(1).getAsLong(),
                            row.get(2).getAsString()));
        }
        List<Stall> stalls = new ArrayList<>();
        for (JsonElement each : json.getAsJsonArray("stalls")) {
            JsonArray row = each.getAsJsonArray();
            stalls.add(
                    new Stall(
                            row.get(0).getAsLong(),
                            row.get(1).getAsLong(),
                            row.get(2).getAsString()));
        }
        return new ResidentWeights(
                json.get("nanos").getAsLong(),
                json.get("pinnedBytes").getAsLong(),
                changes,
                stalls,
                json.get("binding").getAsString());
    }

    /**
     * Returns the curve of the bytes in memory with the events that change it, as a page shows
     * them.
     */
    static JsonObject curve(ResidentWeights weights) {
        JsonArray nanos = new JsonArray();
        JsonArray bytes = new JsonArray();
        JsonArray loads = new JsonArray();
        JsonArray evictions = new JsonArray();
        long resident = weights.pinnedBytes();
        nanos.add(0);
        bytes.add(resident);
        for (Change change : weights.changes()) {
            resident += change.bytes();
            nanos.add(change.nanos());
            bytes.add(resident);
            JsonObject event = new JsonObject();
            event.addProperty("at", change.nanos());
            event.addProperty("bytes", Math.abs(change.bytes()));
            event.addProperty("name", change.operator());
            (change.bytes() > 0 ? loads : evictions).add(event);
        }
        nanos.add(weights.nanos());
        bytes.add(resident);
        JsonArray stalls = new JsonArray();
        for (Stall stall : weights.stalls()) {
            JsonObject event = new JsonObject();
            event.addProperty("at", stall.nanos());
            event.addProperty("nanos", stall.waitNanos());
            event.addProperty("name", stall.operator());
            stalls.add(event);
        }
        JsonObject json = new JsonObject();
        json.add("nanos", nanos);
        json.add("bytes", bytes);
        json.add("loads", loads);
        json.add("evictions", evictions);
        json.add("stalls", stalls);
        return json;
    }
}
