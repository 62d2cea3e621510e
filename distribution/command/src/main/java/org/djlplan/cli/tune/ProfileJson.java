package org.djlplan.cli.tune;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.study.delegation.Pareto;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/** Writes tables of measurements as JSON. Partitions are numbered from 1, operators from 0. */
final class ProfileJson {

    private final ProfileTable table;
    private final SetNames names;
    private final Set<Entry.Measured> front;

    private ProfileJson(Graph graph, ProfileTable table) {
        this.table = table;
        this.names = SetNames.of(graph, table.partitions());
        this.front = ImmutableSet.copyOf(Pareto.front(table));
    }

    /**
     * Returns one table, its entries in the order in which they were tried.
     *
     * @param facts that the measurements depend on, by name
     * @param kept whether a load finds this table
     */
    static JsonObject of(Graph graph, Map<String, String> facts, ProfileTable table, boolean kept) {
        return new ProfileJson(graph, table).table(facts, kept);
    }

    private JsonObject table(Map<String, String> facts, boolean kept) {
        JsonObject json = new JsonObject();
        JsonObject key = new JsonObject();
        facts.forEach(key::addProperty);
        json.add("key", key);
        JsonArray partitions = new JsonArray();
        table.partitions().forEach(partition -> partitions.add(numbers(partition)));
        json.add("partitions", partitions);
        JsonArray entries = new JsonArray();
        table.entries().forEach(entry -> entries.add(entry(entry)));
        json.add("entries", entries);
        json.add("chosen", set(table.chosen()));
        json.addProperty("reason", table.reason());
        json.addProperty("inferences", table.inferences());
        json.addProperty("seconds", Figures.inSeconds(table.nanos()));
        json.addProperty("kept", kept);
        return json;
    }

    private JsonObject entry(Entry entry) {
        JsonObject json = set(entry.candidate());
        if (entry instanceof Entry.Measured measured) {
            json.addProperty("kind", "measured");
            json.addProperty("kernels", measured.kernels());
            json.addProperty("medianMillis", Figures.inMillis(measured.latency().medianNanos()));
            json.addProperty("lowMillis", Figures.inMillis(measured.latency().lowNanos()));
            json.addProperty("highMillis", Figures.inMillis(measured.latency().highNanos()));
            json.addProperty("samples", measured.latency().samples());
            json.addProperty("memoryBytes", measured.memoryBytes());
            json.add("errors", errors(measured.errors()));
            json.addProperty("paretoFront", front.contains(measured));
        } else if (entry instanceof Entry.Wrong wrong) {
            json.addProperty("kind", "wrong");
            json.add("errors", errors(wrong.errors()));
        } else if (entry instanceof Entry.Failed failed) {
            json.addProperty("kind", "failed");
            json.addProperty("failure", failed.kind().name());
            json.addProperty("message", failed.message());
        }
        return json;
    }

    private JsonObject set(Candidate candidate) {
        JsonObject json = new JsonObject();
        json.addProperty("set", names.name(candidate));
        json.add("partitions", numbers(names.touched(candidate)));
        json.add("operators", numbers(candidate.operators()));
        json.addProperty("threads", candidate.threads());
        json.addProperty("transientBuffers", candidate.transientBuffers());
        OptionalInt firstN = names.firstN(candidate);
        json.add(
                "tfLiteFirstN",
                firstN.isPresent() ? new JsonPrimitive(firstN.getAsInt()) : JsonNull.INSTANCE);
        return json;
    }

    private static JsonArray errors(List<OutputError> errors) {
        JsonArray array = new JsonArray();
        for (OutputError error : errors) {
            JsonObject json = new JsonObject();
            json.addProperty("type", error.type().name());
            json.add("difference", number(error.difference()));
            array.add(json);
        }
        return array;
    }

    /** JSON has no infinite numbers. */
    static JsonElement number(double value) {
        return Double.isFinite(value) ? new JsonPrimitive(value) : JsonNull.INSTANCE;
    }

    static JsonArray numbers(Collection<Integer> values) {
        JsonArray array = new JsonArray(values.size());
        values.forEach(array::add);
        return array;
    }
}
