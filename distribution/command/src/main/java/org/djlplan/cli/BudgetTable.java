package org.djlplan.cli;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.djlplan.cli.BudgetSweep.Grouped;
import org.djlplan.cli.BudgetSweep.Measured;
import org.djlplan.cli.BudgetSweep.Refused;
import org.djlplan.cli.BudgetSweep.Result;
import org.djlplan.cli.BudgetSweep.Row;
import org.djlplan.memplan.internal.json.Json;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.thirdparty.guava.base.Strings;

/** A sweep of budgets as a table and as JSON. */
final class BudgetTable {

    private final RunOptions options;
    private final Result result;

    BudgetTable(RunOptions options, Result result) {
        this.options = options;
        this.result = result;
    }

    /** Returns the table and remarks on it. Sizes are in MB, 10⁶ bytes. */
    String text() {
        TextTable table =
                new TextTable(
                        false,
                        "",
                        "budget",
                        "peak",
                        "first load",
                        "of stock",
                        "warm / stock",
                        "cold / stock",
                        "in a group",
                        "stall",
                        "sliced",
                        "pinned",
                        "delegated",
                        "read by");
        table.row(
                "stock",
                "",
                Figures.megabytes(result.stock().peakAboveIdleBytes()),
                "",
                "",
                Figures.format("%.3f ms", result.stock().medianMillis()));
        List<String> notes = new ArrayList<>();
        result.lost().map(ReferenceOutputs::sentence).ifPresent(notes::add);
        for (Row row : result.rows()) {
            if (row.outcome() instanceof Measured measured) {
                table.row(cells(row, measured));
                measured.unplannedReason()
                        .ifPresent(why -> notes.add(row.name() + ": runs as stock: " + why));
            } else if (row.outcome() instanceof Refused refused) {
                table.row(row.name(), Figures.megabytes(row.bytes()));
                notes.add(row.name() + ": " + refused.why());
            }
        }
        StringBuilder text = new StringBuilder(options.title(""));
        text.append(", MB above the idle runtime\n").append(table.text());
        notes.forEach(note -> text.append(TextTable.plain(note)).append('\n'));
        result.leastBytes()
                .ifPresent(
                        bytes ->
                                text.append("smallest budget: ")
                                        .append(result.isHeld(bytes) ? "" : "at least ")
                                        .append(Figures.megabytes(bytes))
                                        .append(" MB (memplan.budget=")
                                        .append(bytes)
                                        .append("B)\n"));
        return text.toString();
    }

    private String[] cells(Row row, Measured measured) {
        Optional<BudgetReport> report = measured.report();
        OptionalLong highest = measured.highestBytes();
        return new String[] {
            row.name(),
            Figures.megabytes(row.bytes()),
            Figures.megabytes(measured.peakAboveIdleBytes()),
            Figures.megabytes(measured.firstLoadPeakAboveIdleBytes()),
            highest.isPresent()
                    ? Figures.format(
                            "%.1f %%",
                            100.0 * highest.getAsLong() / result.stock().peakAboveIdleBytes())
                    : Figures.ABSENT,
            measured.warm().toString(),
            measured.cold().toString(),
            measured.group().map(BudgetTable::inGroup).orElse(Figures.ABSENT),
            report.filter(r -> r.lastStallNanos().isPresent())
                    .map(
                            r ->
                                    Figures.format(
                                            "%.1f ms",
                                            Figures.inMillis(r.lastStallNanos().getAsLong())))
                    .orElse(Figures.ABSENT),
            report.map(r -> Integer.toString(r.slicedOperators())).orElse(Figures.ABSENT),
            report.map(r -> Figures.megabytes(r.pinnedBytes())).orElse(Figures.ABSENT),
            report.map(r -> Figures.megabytes(r.delegatedBytes())).orElse(Figures.ABSENT),
            report.map(r -> r.io().toString()).orElse(Figures.ABSENT)
        };
    }

    private static String inGroup(Grouped grouped) {
        return grouped.ratio().map(MedianRatio::toString).orElse("killed");
    }

    /** Returns the failed checks: budgets that were exceeded, and outputs that differ. */
    List<String> complaints(double relativeError) {
        List<String> complaints = new ArrayList<>();
        for (Row row : result.rows()) {
            row.measured()
                    .ifPresent(measured -> complain(row, measured, relativeError, complaints));
        }
        return complaints;
    }

    private void complain(
            Row row, Measured measured, double relativeError, List<String> complaints) {
        // The sweep raises its own budgets until they are held.
        if (row.isExceeded() && !row.name().equals(BudgetSweep.LEAST)) {
            complaints.add(
                    "%s: the budget of %s MB is not held: %s MB were in memory"
                            .formatted(
                                    row.name(),
                                    Figures.megabytes(row.bytes()),
                                    Figures.megabytes(measured.highestBytes())));
        }
        if (measured.group().filter(Grouped::killed).isPresent()) {
            complaints.add(
                    row.name() + ": killed in a control group that is charged for files, too");
        }
        if (!measured.difference().isAccepted(relativeError)) {
            complaints.add(
                    "%s: outputs differ from %s by %s"
                            .formatted(
                                    row.name(),
                                    ReferenceOutputs.name(result.lost()),
                                    measured.difference().text()));
        }
    }

    /**
     * Returns all figures, in bytes and milliseconds.
     *
     * @param weights whether to say which weights are in memory at which time
     */
    JsonElement json(boolean weights) {
        return Json.tree(
                new All(
                        options.modelName(),
                        options.engine().engineName(),
                        options.threads(),
                        result.stock(),
                        result.rows().stream().map(row -> json(row, weights)).toList(),
                        result.leastBytes()));
    }

    private record All(
            String model,
            String engine,
            OptionalInt threads,
            BudgetSweep.Stock stock,
            List<JsonObject> budgets,
            OptionalLong leastBudgetBytes) {}

    private static JsonObject json(Row row, boolean weights) {
        JsonObject json = new JsonObject();
        json.addProperty("name", row.name());
        json.addProperty("budgetBytes", row.bytes());
        if (row.outcome() instanceof Refused refused) {
            json.addProperty("refused", Strings.nullToEmpty(refused.why()));
        } else if (row.outcome() instanceof Measured measured) {
            JsonObject figures = Json.tree(measured).getAsJsonObject();
            figures.remove("difference");
            if (!weights) {
                figures.remove("weights");
            }
            json.asMap().putAll(figures.asMap());
            json.addProperty("identical", measured.difference().identical());
        }
        return json;
    }
}
