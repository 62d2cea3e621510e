package org.djlplan.cli;

import com.google.gson.GsonBuilder;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonSerializer;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Output of the bench-planner command; the fields are those of its JSON.
 *
 * @param repeat requested number of repetitions
 * @param results one per instance and strategy
 * @param curves one per kind of generated instance and strategy
 * @param techniques one per instance and technique of the search
 */
record PlannerBenchOutput(
        int repeat,
        List<PlannerBench.Row> results,
        List<CostCurve> curves,
        List<PlannerBench.Techniques.SearchRow> techniques) {

    PlannerBenchOutput {
        results = ImmutableList.copyOf(results);
        curves = ImmutableList.copyOf(curves);
        techniques = ImmutableList.copyOf(techniques);
    }

    /** Returns whether the independent validator found no error in any plan. */
    boolean valid() {
        return results.stream().allMatch(PlannerBench.Row::valid);
    }

    String toJson() {
        JsonSerializer<Optional<?>> optional =
                (value, type, context) ->
                        value.isPresent() ? context.serialize(value.get()) : JsonNull.INSTANCE;
        JsonObject all =
                new GsonBuilder()
                        .registerTypeAdapter(Optional.class, optional)
                        .create()
                        .toJsonTree(this)
                        .getAsJsonObject();
        return new GsonBuilder().setPrettyPrinting().create().toJson(all);
    }

    String toText() {
        StringBuilder text = new StringBuilder();
        if (!results.isEmpty()) {
            appendResults(text);
        }
        if (!curves.isEmpty()) {
            appendCurves(text);
        }
        if (!techniques.isEmpty()) {
            appendTechniques(text);
        }
        return text.toString().stripTrailing();
    }

    private void appendResults(StringBuilder text) {
        line(
                text,
                "%-20s %8s %-32s %16s %10s %12s %5s",
                "instance",
                "units",
                "strategy",
                "bytes",
                "% > bound",
                "median ms",
                "runs");
        for (PlannerBench.Row row : results) {
            line(
                    text,
                    "%-20s %8d %-32s %16d %10.3f %12.3f %5d%s",
                    row.instance(),
                    row.units(),
                    row.strategy(),
                    row.totalBytes(),
                    row.percentAboveBound(),
                    row.medianMillis(),
                    row.runs(),
                    row.valid() ? "" : "  INVALID");
        }
        line(text, "");
    }

    private void appendCurves(StringBuilder text) {
        line(
                text,
                "%-20s %-32s %16s %10s  %s",
                "cost curve of",
                "strategy",
                "units",
                "exponent",
                "claimed O");
        for (CostCurve curve : curves) {
            line(
                    text,
                    "%-20s %-32s %16s %10.2f  %s",
                    curve.instance(),
                    curve.strategy(),
                    curve.fromUnits() + "-" + curve.toUnits(),
                    curve.exponent(),
                    curve.claimed().orElse("-"));
        }
        line(text, "");
    }

    private void appendTechniques(StringBuilder text) {
        line(
                text,
                "%-20s %-20s %10s %12s %14s  %s",
                "instance",
                "search without",
                "seconds",
                "nodes",
                "bytes",
                "fits");
        for (PlannerBench.Techniques.SearchRow row : techniques) {
            line(
                    text,
                    "%-20s %-20s %10.3f %12d %14d  %s",
                    row.instance(),
                    row.without(),
                    row.seconds(),
                    row.nodes(),
                    row.totalBytes(),
                    row.fits() ? "yes" : "no");
        }
    }

    private static void line(StringBuilder text, String format, Object... values) {
        text.append(String.format(Locale.ROOT, format, values)).append(System.lineSeparator());
    }
}
