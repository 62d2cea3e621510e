package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.study.delegation.Verdict;
import org.junit.jupiter.api.Test;

class ExplainedTest {

    private static final Map<String, String> FACTS =
            Map.of(
                    "delegate", "xnnpack",
                    "objective", "latency",
                    "maxMemoryBytes", "64000000",
                    "tolerance", "1.0E-4",
                    "exclude", "4,7");

    private static Explained explained(Map<String, String> facts) {
        return Explained.of(SampleTables.graph(), facts, SampleTables.table());
    }

    @Test
    void table_runsOfOneVerdict_areOneLine() {
        Explained explained = explained(FACTS);
        String slower =
                "not worth it: 20.000 ms slower (60.000 ms in a set of 9 operators, 40.000 as"
                        + " chosen)";
        assertEquals(
                """
                12 operators: 5 delegated, 2 excluded, 4 not worth it, 1 unsupported
                operator type output
                0–3 4 × ABS SLOWER
                4 ABS t5 excluded: by you
                5–6 2 × ABS delegated
                7 ABS t8 excluded: by you
                8–10 3 × ABS delegated
                11 ABS t12 unsupported: the delegate does not take it
                """,
                explained
                        .text()
                        .replace(slower, "SLOWER")
                        .replaceAll("(?m)^ +", "")
                        .replaceAll(" +", " "));
    }

    @Test
    void of_limitOfTheKey_counts() {
        Explained explained =
                explained(Map.of("maxMemoryBytes", "8000000", "objective", "latency"));
        assertTrue(
                explained
                        .text()
                        .contains(
                                "over the limit: 8.4 MB in a set of 9 operators, where 8.0 may be"),
                explained.text());
    }

    @Test
    void json_hasEveryOperatorAndFigures() {
        JsonArray json = explained(FACTS).json();
        assertEquals(12, json.size());
        JsonObject slower = json.get(1).getAsJsonObject();
        assertEquals(1, slower.get("operator").getAsInt());
        assertEquals("ABS", slower.get("type").getAsString());
        assertEquals("t2", slower.get("output").getAsString());
        assertEquals("not worth it", slower.get("verdict").getAsString());
        assertFalse(slower.get("delegated").getAsBoolean());
        assertEquals(20, slower.get("slowerMillis").getAsDouble(), 1e-9);
        assertTrue(json.get(5).getAsJsonObject().get("delegated").getAsBoolean());
        assertFalse(json.get(5).getAsJsonObject().has("slowerMillis"));
    }

    /** A model's file is data: its names neither steer a terminal nor fill it. */
    @Test
    void table_nameOfControlCharacters_isPlainAndShort() {
        String name = "\u001b[2Jred\n" + "x".repeat(1000);
        Graph graph =
                new Graph(
                        "net",
                        List.of(
                                new Operator(
                                        0, "CUSTOM:\u0007bell", List.of(0), List.of(1), List.of())),
                        List.of(tensor(0, "in"), tensor(1, name)),
                        List.of(0),
                        List.of(1));
        String text = new Explained(graph, List.of(Verdict.unsupported("no \u001b[31m"))).text();
        assertTrue(text.chars().allMatch(c -> c == '\n' || !Character.isISOControl(c)), text);
        assertTrue(text.length() < 300, text);
    }

    private static Tensor tensor(int id, String name) {
        return new Tensor(
                id,
                name,
                ElementType.FLOAT32,
                List.of(1),
                4,
                Storage.INTERMEDIATE,
                Optional.empty());
    }
}
