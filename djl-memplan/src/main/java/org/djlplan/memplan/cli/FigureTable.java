package org.djlplan.memplan.cli;

import com.google.common.base.Strings;
import com.google.common.collect.ImmutableList;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;

/** Tables for people: one line per figure, numbers right-aligned with their units. */
final class FigureTable {

    private static final String ABSENT = "–";

    private FigureTable() {}

    /** Returns a table of one run; figures that do not apply are left out. */
    static String of(RunFigures figures) {
        List<List<String>> rows = new ArrayList<>();
        for (Figure figure : Figure.values()) {
            if (figures.get(figure).isPresent()) {
                rows.add(ImmutableList.of(figure.label(), text(figure, figures.get(figure))));
            }
        }
        return title(figures)
                + layOut(rows)
                + "outputs (SHA-256)  "
                + figures.outputSha256()
                + "\n";
    }

    /** Returns a table of all runs and their ratios. */
    static String of(Comparison comparison) {
        return heading(comparison) + "\n" + layOut(rows(comparison)) + verdict(comparison) + "\n";
    }

    /** Returns one line: the model and what the figures are. */
    static String heading(Comparison comparison) {
        int runs = comparison.runs().size();
        String medians = runs == 0 ? "" : ", medians of " + runs + " times in fresh processes";
        return title(comparison.planned()).strip() + medians;
    }

    /**
     * Returns the cells of a comparison: a heading, then label, stock, planned and ratio, and the
     * figure and ratio of every other allocator that there is.
     */
    static ImmutableList<ImmutableList<String>> rows(Comparison comparison) {
        ImmutableList.Builder<ImmutableList<String>> rows = ImmutableList.builder();
        ImmutableList.Builder<String> heading =
                ImmutableList.<String>builder().add("", "stock", "planned", "planned/stock");
        comparison
                .against()
                .forEach(
                        (name, other) ->
                                other.ifPresent(figures -> heading.add(name, "planned/" + name)));
        rows.add(heading.build());
        for (Figure figure : Figure.values()) {
            OptionalDouble stock = comparison.stockValue(figure);
            OptionalDouble planned = comparison.planned().get(figure);
            if (figure != Figure.STOCK_ARENA && (stock.isPresent() || planned.isPresent())) {
                rows.add(row(comparison, figure));
            }
        }
        return rows.build();
    }

    private static ImmutableList<String> row(Comparison comparison, Figure figure) {
        boolean hasRatio = Comparison.RATIOS.contains(figure);
        ImmutableList.Builder<String> row = ImmutableList.builder();
        row.add(
                figure.label(),
                text(figure, comparison.stockValue(figure)),
                text(figure, comparison.planned().get(figure)),
                hasRatio ? ratio(comparison.ratio(figure)) : "");
        comparison
                .against()
                .forEach(
                        (name, other) ->
                                other.ifPresent(
                                        figures ->
                                                row.add(
                                                        text(figure, figures.get(figure)),
                                                        hasRatio
                                                                ? ratio(
                                                                        comparison.ratio(
                                                                                figure, name))
                                                                : "")));
        return row.build();
    }

    private static String ratio(OptionalDouble ratio) {
        return ratio.isPresent() ? format("%.3f", ratio.getAsDouble()) : "";
    }

    /** Returns one sentence on the outputs. */
    static String verdict(Comparison comparison) {
        OutputDifference outputs = comparison.outputs();
        if (outputs.identical()) {
            return "outputs are identical (SHA-256 " + comparison.planned().outputSha256() + ")";
        }
        return outputs.maxRelativeError().isPresent()
                ? format(
                        "outputs differ: largest relative error %.3g",
                        outputs.maxRelativeError().getAsDouble())
                : "outputs differ and cannot be compared";
    }

    private static String title(RunFigures figures) {
        String threads =
                figures.threads().isPresent() ? ", threads: " + figures.threads().getAsInt() : "";
        return figures.model() + " (" + figures.engine() + threads + ")\n";
    }

    private static String text(Figure figure, OptionalDouble value) {
        if (value.isEmpty()) {
            return ABSENT;
        }
        double number = value.getAsDouble();
        return switch (figure.unit()) {
            case MILLIS -> format("%.3f ms", number);
            case RATE -> format("%.1f", number);
            case COUNT -> format("%.0f", number);
            case BYTES -> format("%.3f MiB", number / (1 << 20));
        };
    }

    private static String format(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }

    private static String layOut(List<? extends List<String>> rows) {
        int columns = rows.stream().mapToInt(List::size).max().orElse(0);
        int[] widths = new int[columns];
        for (List<String> row : rows) {
            for (int i = 0; i < row.size(); i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        StringBuilder text = new StringBuilder();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder(Strings.padEnd(row.get(0), widths[0], ' '));
            for (int i = 1; i < row.size(); i++) {
                line.append("  ").append(Strings.padStart(row.get(i), widths[i], ' '));
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
        return text.toString();
    }
}
