package org.djlplan.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ChromeTraceTest {

    private static List<JsonObject> events(Report report) {
        List<JsonObject> events = new ArrayList<>();
        JsonObject trace =
                JsonParser.parseString(ChromeTrace.of(report).toString()).getAsJsonObject();
        for (JsonElement event : trace.getAsJsonArray("traceEvents")) {
            events.add(event.getAsJsonObject());
        }
        return events;
    }

    private static List<JsonObject> events(Report report, String phase) {
        return events(report).stream().filter(e -> phase(e).equals(phase)).toList();
    }

    private static String phase(JsonObject event) {
        return event.get("ph").getAsString();
    }

    @Test
    void events_allKinds_followTheFormatInOrderOfTime() {
        long now = 0;
        for (JsonObject event : events(SampleReports.chain(20, "t"))) {
            for (String key : List.of("name", "ph", "ts", "pid", "tid")) {
                assertNotNull(event.get(key), event::toString);
            }
            assertTrue("MXCbe".contains(phase(event)), event::toString);
            assertTrue(event.get("ts").getAsLong() >= now, event::toString);
            now = event.get("ts").getAsLong();
        }
    }

    @Test
    void of_timesShownInMilliseconds() {
        // For any other unit, the importer of chrome://tracing logs a warning.
        JsonObject trace = ChromeTrace.of(SampleReports.chain(20, "t"));
        assertEquals("ms", trace.get("displayTimeUnit").getAsString());
    }

    /**
     * Asserts what Perfetto's importer requires of an event (json_trace_parser_impl.cc): otherwise
     * it counts a failure or leaves the event out.
     */
    private static void assertImported(JsonObject event) {
        assertTrue(event.get("pid").getAsJsonPrimitive().isNumber(), event::toString);
        assertTrue(event.get("tid").getAsJsonPrimitive().isNumber(), event::toString);
        assertTrue(event.get("name").getAsJsonPrimitive().isString(), event::toString);
        assertFalse(event.get("name").getAsString().isEmpty(), event::toString);
        switch (phase(event)) {
            case "X" -> assertTrue(event.get("dur").getAsLong() > 0, event::toString);
            case "b", "e" -> {
                assertFalse(event.get("id").getAsString().isEmpty(), event::toString);
                assertFalse(event.get("cat").getAsString().isEmpty(), event::toString);
            }
            case "C" ->
                    event.getAsJsonObject("args")
                            .asMap()
                            .values()
                            .forEach(each -> assertTrue(each.getAsJsonPrimitive().isNumber()));
            case "M" ->
                    assertFalse(
                            event.getAsJsonObject("args").get("name").getAsString().isEmpty(),
                            event::toString);
            default -> throw new AssertionError(event);
        }
    }

    /**
     * Asserts that each end event closes an open begin event of the same track; category, identity
     * and name are a track's key.
     */
    @ParameterizedTest
    @ValueSource(strings = {"t", "", "<b>\u202e\u0000\"", "\ud800"})
    void events_anyNames_areTakenByPerfettosRules(String name) {
        Map<String, Long> open = new HashMap<>();
        long sliceEnd = 0;
        for (JsonObject event : events(SampleReports.chain(20, name))) {
            assertImported(event);
            long at = event.get("ts").getAsLong();
            String track = event.get("cat") + " " + event.get("id") + " " + event.get("name");
            switch (phase(event)) {
                case "b" -> assertNull(open.put(track, at), event::toString);
                case "e" -> assertTrue(open.remove(track) < at, event::toString);
                case "X" -> {
                    assertTrue(at >= sliceEnd, "slices of one thread lie beside each other");
                    sliceEnd = at + event.get("dur").getAsLong();
                }
                default -> {}
            }
        }
        assertEquals(Map.of(), open);
    }

    @Test
    void tensors_beginAndEndInTheirLanes_oneAfterTheOther() {
        Report report = SampleReports.chain(20, "t");
        Map<String, Deque<String>> open = new HashMap<>();
        int begun = 0;
        for (JsonObject event : events(report)) {
            if (!"be".contains(phase(event))) {
                continue;
            }
            assertEquals("tensor", event.get("cat").getAsString());
            Deque<String> lane =
                    open.computeIfAbsent(event.get("id").getAsString(), id -> new ArrayDeque<>());
            if (phase(event).equals("b")) {
                assertTrue(lane.isEmpty(), "two tensors at once in " + event);
                lane.push(event.get("name").getAsString());
                begun++;
            } else {
                assertEquals(lane.pop(), event.get("name").getAsString());
            }
        }
        assertEquals(20, begun);
        assertTrue(open.values().stream().allMatch(Deque::isEmpty), open::toString);
    }

    @Test
    void operatorsAndBytes_equalTheMaps() {
        Report report = SampleReports.chain(20, "t");
        List<JsonObject> slices = events(report, "X");
        assertEquals(20, slices.size());
        assertEquals("OP_7", slices.get(7).get("name").getAsString());
        assertEquals(7, slices.get(7).get("ts").getAsLong());
        assertEquals(1, slices.get(7).get("dur").getAsLong());
        List<Long> bytes =
                events(report, "C").stream()
                        .filter(e -> e.get("name").getAsString().equals("live bytes"))
                        .map(e -> e.getAsJsonObject("args").get("bytes").getAsLong())
                        .toList();
        assertEquals(report.plan().breadthBytes(), bytes.subList(0, 20));
        assertEquals(0, bytes.get(20));
    }
}
