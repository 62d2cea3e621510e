package org.djlplan.cli.tune;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.List;
import org.djlplan.cli.TextTable;
import org.djlplan.cli.report.ReportFile;

/** A study's report page: numbers as in {@link StudyJson}, tables as in {@link StudyText}. */
final class StudyPage {

    private StudyPage() {}

    /** Returns the page's text, to be written in UTF-8. */
    static String of(Study study, Explained explained) {
        JsonObject data = StudyJson.of(study);
        data.addProperty("heading", StudyText.heading(study));
        data.add("verdict", texts(StudyText.verdict(study)));
        JsonArray tables = new JsonArray();
        JsonObject partitions = table("Partitions", StudyText.partitions(study), "");
        partitions.getAsJsonArray("heading").set(0, new JsonPrimitive("partition"));
        tables.add(partitions);
        tables.add(
                table(
                        "Which feature predicts the time saved",
                        StudyText.correlations(study),
                        "Spearman's rank correlation over the partitions."));
        tables.add(
                table(
                        "TensorFlow Lite's own rule",
                        StudyText.rule(study),
                        "The N partitions with most operators; latency also as a multiple of"
                                + " others."));
        tables.add(table("Sets, the fastest first", StudyText.sets(study), ""));
        tables.add(
                table(
                        "Why operators are delegated or not",
                        explained.table(false),
                        "As the usual run chose: " + explained.summary() + "."));
        data.add("tables", tables);
        JsonObject page = new JsonObject();
        page.addProperty("format", 1);
        page.addProperty("title", study.model());
        page.add("study", data);
        return ReportFile.html(page);
    }

    private static JsonObject table(String title, TextTable table, String note) {
        List<List<String>> rows = table.rows();
        JsonArray below = new JsonArray();
        rows.subList(1, rows.size()).forEach(row -> below.add(texts(row)));
        JsonObject json = new JsonObject();
        json.addProperty("title", title);
        json.add("heading", texts(rows.get(0)));
        json.add("rows", below);
        json.add("notes", texts(note.isEmpty() ? List.of() : List.of(note)));
        return json;
    }

    private static JsonArray texts(List<String> texts) {
        JsonArray array = new JsonArray();
        texts.forEach(array::add);
        return array;
    }
}
