package org.djlplan.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.util.List;
import org.djlplan.cli.Comparison.Variant;

/** The run section of a report: how a model ran as stock and in other modes. */
final class ReportRun {

    /** Name of the part. */
    static final String NAME = "run";

    private ReportRun() {}

    /**
     * Returns the part.
     *
     * @param watch observations of {@code comparison}
     * @param others comparisons of which only the tables are included
     */
    static JsonObject of(Comparison comparison, RunWatch watch, List<Comparison> others) {
        JsonArray modes = new JsonArray();
        modes.add(mode(RunMode.STOCK, comparison.stock(), watch));
        for (Variant variant : comparison.variants()) {
            modes.add(mode(variant.mode(), variant.figures(), watch));
        }
        JsonArray tables = new JsonArray();
        tables.add(table(comparison));
        others.forEach(other -> tables.add(table(other)));
        JsonObject run = new JsonObject();
        run.add("ways", modes);
        run.add("tables", tables);
        return run;
    }

    private static JsonObject mode(RunMode mode, RunFigures figures, RunWatch watch) {
        JsonObject json = new JsonObject();
        json.addProperty("name", mode.label());
        JsonArray nanos = new JsonArray();
        watch.latencyNanos(mode.label()).forEach(nanos::add);
        json.add("latencyNanos", nanos);
        figures.get(Figure.PAGE_FAULTS)
                .ifPresent(faults -> json.addProperty("pageFaults", Math.round(faults * 10) / 10.));
        JsonArray resident = new JsonArray();
        for (RunWatch.Sample sample : watch.resident(mode.label())) {
            JsonObject point = new JsonObject();
            point.addProperty("nanos", sample.nanos());
            point.addProperty("bytes", sample.bytes());
            resident.add(point);
        }
        json.add("resident", resident);
        return json;
    }

    private static JsonObject table(Comparison comparison) {
        List<List<String>> rows = FigureTable.rows(comparison).rows();
        JsonArray all = new JsonArray();
        rows.stream().skip(1).forEach(row -> all.add(texts(row)));
        JsonObject table = new JsonObject();
        table.addProperty("title", FigureTable.heading(comparison));
        table.add("heading", texts(rows.get(0)));
        table.add("rows", all);
        table.add("notes", texts(FigureTable.sentences(comparison)));
        return table;
    }

    private static JsonArray texts(List<String> texts) {
        JsonArray array = new JsonArray();
        texts.forEach(array::add);
        return array;
    }
}
