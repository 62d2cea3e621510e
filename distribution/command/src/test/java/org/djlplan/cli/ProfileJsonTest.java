package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.Map;
import org.djlplan.memplan.internal.store.Kept;
import org.djlplan.memplan.internal.store.StoreKey;
import org.junit.jupiter.api.Test;

class ProfileJsonTest {

    private final JsonObject json =
            JsonParser.parseString(
                            ProfileJson.of(
                                            SampleTables.graph(),
                                            new Kept<>(
                                                    new StoreKey("net", Map.of("threads", "2")),
                                                    SampleTables.table()),
                                            true,
                                            false)
                                    .toString())
                    .getAsJsonObject();

    private JsonObject entry(int place) {
        return json.getAsJsonArray("entries").get(place).getAsJsonObject();
    }

    private static JsonArray array(String text) {
        return JsonParser.parseString(text).getAsJsonArray();
    }

    @Test
    void of_table_hasKeyPartitionsAndChoice() {
        assertEquals("2", json.getAsJsonObject("key").get("threads").getAsString());
        assertEquals(array("[[0,1,2,3],[5,6],[8,9,10]]"), json.get("partitions"));
        JsonObject chosen = json.getAsJsonObject("chosen");
        assertEquals("2,3 of 3", chosen.get("set").getAsString());
        assertEquals(array("[2,3]"), chosen.get("partitions"));
        assertEquals(array("[5,6,8,9,10]"), chosen.get("operators"));
        assertFalse(chosen.get("transientBuffers").getAsBoolean());
        assertEquals("2 of 3 partitions: 40 ms", json.get("reason").getAsString());
        assertEquals(93, json.get("inferences").getAsInt());
        assertEquals(4.2, json.get("seconds").getAsDouble(), 1e-12);
        assertTrue(json.get("kept").getAsBoolean());
    }

    @Test
    void of_measured_hasItsFigures() {
        JsonObject all = entry(1);
        assertEquals("measured", all.get("kind").getAsString());
        assertEquals(60, all.get("medianMillis").getAsDouble(), 1e-12);
        assertEquals(59.9995, all.get("lowMillis").getAsDouble(), 1e-12);
        assertEquals(60.002, all.get("highMillis").getAsDouble(), 1e-12);
        assertEquals(8 << 20, all.get("memoryBytes").getAsLong());
        assertEquals(3, all.get("tfLiteFirstN").getAsInt());
        assertFalse(all.get("paretoFront").getAsBoolean());
        assertTrue(entry(2).get("paretoFront").getAsBoolean());
        assertTrue(entry(2).get("tfLiteFirstN").isJsonNull());
    }

    @Test
    void of_failedAndWrong_sayWhy() {
        assertEquals("CRASHED", entry(4).get("failure").getAsString());
        assertEquals("SIGSEGV", entry(4).get("message").getAsString());
        JsonArray errors = entry(5).getAsJsonArray("errors");
        assertTrue(errors.get(0).getAsJsonObject().get("difference").isJsonNull());
        assertEquals(3, errors.get(1).getAsJsonObject().get("difference").getAsInt());
    }
}
