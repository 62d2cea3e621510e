package org.djlplan.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.djlplan.cli.report.MemoryMap;
import org.djlplan.cli.report.MemoryMap.Strategy;
import org.djlplan.cli.report.Report;

/**
 * Two reports side by side: of a model before and after a change, or on two machines.
 *
 * @param before the first
 * @param after the second
 */
record ReportComparison(Report before, Report after) {

    private static final int FORMAT = 1;

    /** Returns the data that the page shows side by side. */
    JsonObject toJson() {
        JsonArray reports = new JsonArray();
        reports.add(before.toJson());
        reports.add(after.toJson());
        JsonObject json = new JsonObject();
        json.addProperty("format", FORMAT);
        json.add("reports", reports);
        return json;
    }

    /** Returns a table of the figures in both reports, with the second compared with the first. */
    String text() {
        TextTable table = new TextTable(false, "", "first", "second", "second / first");
        texts(table, "model", report -> report.model().name());
        texts(table, "view", report -> report.model().view());
        texts(table, "made by djl-plan", Report::djlPlan);
        numbers(table, "tensors", MemoryMap::records);
        numbers(table, "steps", map -> map.operators().size());
        numbers(table, "naive, bytes", MemoryMap::naiveBytes);
        numbers(table, "lower bound, bytes", MemoryMap::lowerBoundBytes);
        numbers(table, "with places shared", MemoryMap::aliasedLowerBoundBytes);
        numbers(table, "best plan, bytes", map -> map.bestStrategy().totalBytes());
        texts(table, "  by", report -> report.plan().best());
        texts(
                table,
                "  proved minimal",
                report -> report.plan().bestStrategy().provedMinimal() ? "yes" : "no");
        Map<String, Strategy> others = byName(after.plan());
        for (Strategy strategy : before.plan().strategies()) {
            Optional.ofNullable(others.get(strategy.name()))
                    .ifPresent(
                            other ->
                                    row(
                                            table,
                                            strategy.name(),
                                            strategy.totalBytes(),
                                            other.totalBytes()));
        }
        return table.text();
    }

    private static Map<String, Strategy> byName(MemoryMap map) {
        return map.strategies().stream()
                .collect(Collectors.toMap(Strategy::name, each -> each, (first, same) -> first));
    }

    private void texts(TextTable table, String label, Function<Report, String> value) {
        table.row(label, shown(value.apply(before)), shown(value.apply(after)));
    }

    /** Removes control characters, so that text in a file cannot control a terminal. */
    private static String shown(String text) {
        String plain = text.replaceAll("[\\p{Cc}\\p{Cf}]", "?");
        return plain.length() > 40 ? plain.substring(0, 39) + "…" : plain;
    }

    private void numbers(TextTable table, String label, ToLongFunction<MemoryMap> value) {
        row(table, label, value.applyAsLong(before.plan()), value.applyAsLong(after.plan()));
    }

    private static void row(TextTable table, String label, long first, long second) {
        table.row(
                shown(label),
                String.format(Locale.ROOT, "%,d", first),
                String.format(Locale.ROOT, "%,d", second),
                first == 0 ? "" : String.format(Locale.ROOT, "%.3f", (double) second / first));
    }
}
