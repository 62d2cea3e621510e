package org.djlplan.cli.tune;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class StudyPageTest {

    private static final Explained EXPLAINED =
            Explained.of(
                    SampleStudies.graph(),
                    Map.of("delegate", "<gpu>", "exclude", "name:t5"),
                    SampleStudies.table());

    private final String page = StudyPage.of(SampleStudies.study(), EXPLAINED);

    private static JsonObject data(String page) {
        String begin = "<script type=\"application/json\" id=\"data\">";
        int start = page.indexOf(begin) + begin.length();
        return JsonParser.parseString(page.substring(start, page.indexOf("</script>", start)))
                .getAsJsonObject();
    }

    /** Removes nulls, as a page does: it leaves out what is not known. */
    private static JsonObject withoutNulls(JsonObject json) {
        return JsonParser.parseString(new Gson().toJson(json)).getAsJsonObject();
    }

    private static List<String> titles(JsonObject study) {
        return study.getAsJsonArray("tables").asList().stream()
                .map(table -> table.getAsJsonObject().get("title").getAsString())
                .toList();
    }

    @Test
    void of_study_isAPageOfReports() {
        assertTrue(page.startsWith("<!doctype html>"));
        assertTrue(page.contains("Content-Security-Policy"));
        assertFalse(page.contains("<net>"), "a name that is markup");
        assertEquals(1, data(page).get("format").getAsInt());
        assertEquals("<net> & co.tflite", data(page).get("title").getAsString());
    }

    @Test
    void of_study_hasTheNumbersOfItsJsonAndTheTablesOfItsText() {
        JsonObject study = data(page).getAsJsonObject("study");
        for (Map.Entry<String, JsonElement> number :
                withoutNulls(StudyJson.of(SampleStudies.study())).entrySet()) {
            assertEquals(number.getValue(), study.get(number.getKey()), number.getKey());
        }
        assertEquals(5, titles(study).size(), titles(study).toString());
        JsonObject sets = study.getAsJsonArray("tables").get(3).getAsJsonObject();
        assertEquals(7, sets.getAsJsonArray("rows").size());
        assertEquals(
                "[\"2,3 of 3\",\"5\",\"1\",\"40.000 ms\",\"40.000–40.002\",\"1.00"
                        + " MiB\",\"chosen\"]",
                sets.getAsJsonArray("rows").get(0).toString());
    }

    @Test
    void of_study_saysWhyOperatorsAreDelegatedOrNot() {
        JsonObject why =
                data(page)
                        .getAsJsonObject("study")
                        .getAsJsonArray("tables")
                        .get(4)
                        .getAsJsonObject();
        assertTrue(why.get("rows").toString().contains("excluded: by you"), why::toString);
        assertEquals(
                "[\"As the usual run chose: 12 operators: 5 delegated, 1 excluded, 4 not"
                        + " worth it, 2 unsupported.\"]",
                why.get("notes").toString());
    }

    @Test
    void of_nothingMeasured_isAPage() {
        Study full = SampleStudies.study();
        Study empty =
                new Study("net", 1, 0, -1, List.of(), 1, List.of(), List.of(), full.usual(), 0, 0);
        JsonObject study = data(StudyPage.of(empty, EXPLAINED)).getAsJsonObject("study");
        assertEquals(0, study.getAsJsonArray("sets").size());
        assertEquals(5, titles(study).size());
    }
}
