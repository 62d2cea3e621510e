package org.djlplan.cli.tune;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.List;
import org.djlplan.study.delegation.Correlation.Feature;
import org.junit.jupiter.api.Test;

class StudyTextTest {

    private final Study study = SampleStudies.study();

    @Test
    void rule_everyN_isBesideOursAndTheBest() {
        assertEquals(
                List.of(
                        List.of("N", "set", "latency", "to ours", "to the best", "to CPU"),
                        List.of("1", "1 of 3", "110.000 ms", "2.750", "2.750", "1.222"),
                        List.of("2", "1,3 of 3", "80.000 ms", "2.000", "2.000", "0.889"),
                        List.of("3", "all", "60.000 ms", "1.500", "1.500", "0.667")),
                StudyText.rule(study).rows());
    }

    @Test
    void partitions_slowInTheDelegate_saveLessThanNothing() {
        List<List<String>> rows = StudyText.partitions(study).rows();
        assertEquals(
                List.of(
                        "1",
                        "4",
                        "1.0",
                        "0.50 MiB",
                        "3.0 KiB",
                        "20.000 ms",
                        "40.000 ms",
                        "-20.000 ms"),
                rows.get(1));
        assertEquals("30.000 ms", rows.get(3).get(7));
    }

    @Test
    void correlations_flops_predictBest() {
        assertEquals(1, study.correlations().get(Feature.FLOPS).orElseThrow(), 1e-12);
        assertEquals(-0.5, study.correlations().get(Feature.OPERATORS).orElseThrow(), 1e-12);
        List<List<String>> rows = StudyText.correlations(study).rows();
        assertEquals(List.of("operators", "-0.500", ""), rows.get(1));
        assertEquals(List.of("FLOPs", "+1.000", "predicts best"), rows.get(2));
        assertEquals(List.of("weight bytes", "–", ""), rows.get(3));
    }

    @Test
    void of_study_hasEveryPart() {
        String text = StudyText.of(study);
        assertTrue(text.contains("2,3 of 3             5        1   40.000 ms"), text);
        assertTrue(text.contains("timed out: no answer in 30 s"), text);
        assertTrue(text.contains("best: 2,3 of 3, 40.000 ms\n"), text);
        assertTrue(
                text.contains("chosen by a usual run: 2,3 of 3, 40.000 ms, 1.000 times the best\n"),
                text);
        assertTrue(
                text.contains(
                        "7 of 8 sets measured in 21.0 s with 700 inferences; a usual run takes 93"
                                + " in 4.2 s\n"),
                text);
    }

    @Test
    void json_study_hasEveryPart() {
        JsonObject json = JsonParser.parseString(StudyJson.of(study).toString()).getAsJsonObject();
        JsonArray partitions = json.getAsJsonArray("partitions");
        assertEquals(3, partitions.size());
        assertEquals(9_000_000, partitions.get(2).getAsJsonObject().get("flops").getAsLong());
        assertEquals("FLOPS", json.get("bestFeature").getAsString());
        assertTrue(json.getAsJsonObject("correlations").get("weightBytes").isJsonNull());
        assertEquals(7, json.getAsJsonArray("sets").size());
        assertEquals(8, json.get("wantedSets").getAsInt());
        assertEquals("2,3 of 3", json.getAsJsonObject("chosen").get("set").getAsString());
        assertEquals(40, json.getAsJsonObject("best").get("medianMillis").getAsDouble(), 1e-9);
        JsonArray rule = json.getAsJsonArray("tfLiteFirstN");
        assertEquals("1,3 of 3", rule.get(1).getAsJsonObject().get("set").getAsString());
        assertEquals(
                JsonParser.parseString("[1,3]"), rule.get(1).getAsJsonObject().get("partitions"));
    }
}
