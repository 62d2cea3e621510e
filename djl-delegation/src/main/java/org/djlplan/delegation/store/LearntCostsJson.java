package org.djlplan.delegation.store;

import com.google.common.collect.ImmutableMap;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.djlplan.delegation.choice.Cost;
import org.djlplan.delegation.choice.CostKey;
import org.djlplan.delegation.choice.LearntCosts;

/**
 * Learnt costs as JSON. Shown here on several lines, written on one:
 *
 * <pre>{@code
 * {"costs":[
 *   ["CPU","CONV_2D",1,5.2E7,2.1E8],
 *   ["KERNEL","",1,30000.0,3.0]]}
 * }</pre>
 *
 * <p>Of each cost kind, operator, threads, nanoseconds and amount.
 */
public final class LearntCostsJson {

    /** More than are ever kept. */
    private static final int MOST_COSTS = 1 << 12;

    private LearntCostsJson() {}

    /** Writes costs as one JSON value. */
    public static void write(JsonWriter json, LearntCosts costs) throws IOException {
        json.beginObject().name("costs").beginArray();
        for (Map.Entry<CostKey, Cost> entry : costs.costs().entrySet()) {
            CostKey key = entry.getKey();
            json.beginArray().value(key.kind().name()).value(key.operator()).value(key.threads());
            json.value(entry.getValue().nanos()).value(entry.getValue().amount()).endArray();
        }
        json.endArray().endObject();
    }

    /**
     * Reads what {@link #write} wrote.
     *
     * @throws IOException if it is damaged, or not what is ever written
     */
    public static LearntCosts read(JsonReader json) throws IOException {
        try {
            return LearntCosts.of(costs(json));
        } catch (IllegalArgumentException | IllegalStateException e) {
            throw new IOException("not learnt costs: " + e.getMessage(), e);
        }
    }

    private static ImmutableMap<CostKey, Cost> costs(JsonReader json) throws IOException {
        Map<CostKey, Cost> costs = new HashMap<>();
        json.beginObject();
        if (!json.nextName().equals("costs")) {
            throw new IOException("no costs");
        }
        json.beginArray();
        while (json.hasNext()) {
            json.beginArray();
            CostKey.Kind kind = CostKey.Kind.valueOf(text(json));
            CostKey key = new CostKey(kind, text(json), number(json).nextInt());
            double nanos = number(json).nextDouble();
            Cost cost = new Cost(nanos, number(json).nextDouble());
            json.endArray();
            if (costs.put(key, cost) != null || costs.size() > MOST_COSTS) {
                throw new IOException("too many costs, or " + key + " twice");
            }
        }
        json.endArray();
        json.endObject();
        return ImmutableMap.copyOf(costs);
    }

    /** The parser would take a number for a text. */
    private static String text(JsonReader json) throws IOException {
        return expect(json, JsonToken.STRING).nextString();
    }

    /** The parser would take a text for a number. */
    private static JsonReader number(JsonReader json) throws IOException {
        return expect(json, JsonToken.NUMBER);
    }

    private static JsonReader expect(JsonReader json, JsonToken token) throws IOException {
        if (json.peek() != token) {
            throw new IOException(json.peek() + " in place of " + token);
        }
        return json;
    }
}
