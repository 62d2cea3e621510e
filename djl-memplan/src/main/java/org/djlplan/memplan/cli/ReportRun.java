package org.djlplan.memplan.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.djlplan.memplan.cli.Comparison.Variant;

/** The part of a report that tells how a model ran as stock and in other ways. */
final class ReportRun {

    /** Name of the part. */
    static final String NAME = "run";

    private ReportRun() {}

    /**
     * Returns the part.
     *
     * @param watch what was seen of {@code comparison}
     * @param others comparisons of which only the tables are told
     */
    static JsonObject of(Comparison comparison, RunWatch watch, List<Comparison> others) {
        JsonArray ways = new JsonArray();
        ways.add(way(Way.STOCK, comparison.stock(), watch, figure -> Optional.empty()));
        for (Variant variant : comparison.variants()) {
            Way way = variant.way();
            ways.add(
                    way(
                            way,
                            variant.figures(),
                            watch,
                            figure -> {
                                var ratio = comparison.ratio(way, figure);
                                return ratio.isPresent()
                                        ? Optional.of(ratio.getAsDouble())
                                        : Optional.empty();
                            }));
        }
        JsonArray tables = new JsonArray();
        tables.add(table(comparison));
        others.forEach(other -> tables.add(table(other)));
        JsonObject run = new JsonObject();
        run.add("ways", ways);
        run.add("tables", tables);
        return run;
    }

    private static JsonObject way(
            Way way,
            RunFigures figures,
            RunWatch watch,
            Function<Figure, Optional<Double>> ratioOf) {
        JsonObject json = new JsonObject();
        json.addProperty("name", way.label());
        JsonArray nanos = new JsonArray();
        watch.latencyNanos(way.label()).forEach(nanos::add);
        json.add("latencyNanos", nanos);
        figures.get(Figure.PAGE_FAULTS).ifPresent(faults -> json.addProperty("pageFaults", faults));
        JsonArray resident = new JsonArray();
        for (RunWatch.Sample sample : watch.resident(way.label())) {
            JsonObject point = new JsonObject();
            point.addProperty("nanos", sample.nanos());
            point.addProperty("bytes", sample.bytes());
            resident.add(point);
        }
        json.add("resident", resident);
        JsonObject texts = new JsonObject();
        JsonObject ratios = new JsonObject();
        for (Figure figure : Figure.values()) {
            figures.get(figure)
                    .ifPresent(
                            value ->
                                    texts.addProperty(
                                            figure.label(), FigureTable.text(figure, value)));
            if (Comparison.RATIOS.contains(figure)) {
                ratioOf.apply(figure).ifPresent(ratio -> ratios.addProperty(figure.label(), ratio));
            }
        }
        json.add("figures", texts);
        json.add("ratios", ratios);
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
