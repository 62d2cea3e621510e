package org.djlplan.cli;

import com.google.gson.JsonElement;
import java.util.List;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.memplan.internal.table.Entry;

/**
 * Says why each rewrite of a TorchScript model is chosen or not, as text and as JSON.
 *
 * @param lines one for each candidate, the fastest first
 */
record ExplainedRecipes(List<Line> lines) {

    private static final String STOCK = "stock";
    private static final double PERCENT = 100;

    /**
     * One candidate.
     *
     * @param candidate name of the recipe, or "stock"
     * @param chosen whether it is chosen
     * @param reason why, or why not
     */
    record Line(String candidate, boolean chosen, String reason) {}

    /** Returns the explanation of a table. */
    static ExplainedRecipes of(ProfileTable table) {
        return new ExplainedRecipes(
                ProfileText.sorted(table.entries()).stream()
                        .map(entry -> line(table, entry))
                        .toList());
    }

    private static Line line(ProfileTable table, Entry entry) {
        boolean chosen = entry.candidate().equals(table.chosen());
        String recipe = entry.candidate().recipe();
        return new Line(
                recipe.isEmpty() ? STOCK : recipe,
                chosen,
                chosen ? table.reason() : reason(table, entry));
    }

    private static String reason(ProfileTable table, Entry entry) {
        if (!(entry instanceof Entry.Measured measured)) {
            return ProfileText.failure(entry);
        }
        return table.measured(table.chosen())
                .map(chosen -> compared(measured, chosen))
                .orElse("not compared, because the chosen candidate was not timed");
    }

    private static String compared(Entry.Measured other, Entry.Measured chosen) {
        double times =
                (double) other.latency().medianNanos()
                        / Math.max(1, chosen.latency().medianNanos());
        if (times >= 1) {
            return Figures.format("%.0f %% slower than the chosen one", PERCENT * (times - 1));
        }
        long more = other.memoryBytes() - chosen.memoryBytes();
        return Figures.format(
                "%.0f %% faster than the chosen one, but %s",
                PERCENT * (1 - times),
                more > 0
                        ? "takes " + Figures.mebibytes(more) + " more"
                        : "not clearly, or slower than stock at one of the shapes");
    }

    /** Returns a row for each candidate. */
    TextTable table() {
        TextTable rows = new TextTable(true, "candidate", "");
        lines.forEach(
                line ->
                        rows.row(
                                line.candidate(),
                                (line.chosen() ? "chosen: " : "") + line.reason()));
        return rows;
    }

    /** Returns an object for each candidate. */
    JsonElement json() {
        return Json.tree(lines);
    }
}
