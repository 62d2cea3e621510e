package org.djlplan.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.function.Function;
import org.djlplan.cli.Comparison.Variant;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/** Formats figures as tables: one line per figure, numbers right-aligned with their units. */
final class FigureTable {

    private FigureTable() {}

    /** Returns a table of one run, without figures that do not apply. */
    static String of(RunFigures figures) {
        List<List<String>> rows = new ArrayList<>();
        for (Figure figure : Figure.values()) {
            if (figures.get(figure).isPresent()) {
                rows.add(ImmutableList.of(figure.label(), text(figure, figures.get(figure))));
            }
        }
        StringBuilder text =
                new StringBuilder(title(figures)).append('\n').append(TextTable.of(rows).text());
        facts("", figures).forEach(line -> text.append(line).append('\n'));
        return text.append("outputs (SHA-256)  ")
                .append(figures.outputSha256())
                .append('\n')
                .toString();
    }

    /** Returns a table of all runs with ratios, followed by sentences about outputs and choices. */
    static String of(Comparison comparison) {
        return heading(comparison)
                + "\n"
                + rows(comparison).text()
                + String.join("\n", sentences(comparison))
                + "\n";
    }

    /** Returns a heading that names the model and says whether figures are medians. */
    static String heading(Comparison comparison) {
        int runs = comparison.runs().size();
        String medians = runs == 0 ? "" : ", medians of " + runs + " times in fresh processes";
        return title(comparison.stock()) + medians;
    }

    /** A column of a table of figures. */
    private record Column(String heading, Function<Figure, String> cell) {}

    /**
     * Returns the table of a comparison: label, stock, figure and ratio of each other mode, and
     * figure and ratios of every available allocator.
     */
    static TextTable rows(Comparison comparison) {
        List<Column> columns = new ArrayList<>();
        columns.add(new Column("", Figure::label));
        columns.add(
                new Column(
                        RunMode.STOCK.label(),
                        figure -> text(figure, comparison.stockValue(figure))));
        for (Variant each : comparison.variants()) {
            RunMode mode = each.mode();
            columns.add(column(mode.label(), each.figures()));
            columns.add(ratio(mode, "stock", figure -> comparison.ratio(mode, figure)));
        }
        comparison
                .against()
                .forEach(
                        (name, other) ->
                                other.ifPresent(run -> addAll(columns, comparison, name, run)));
        List<List<String>> rows = new ArrayList<>();
        rows.add(columns.stream().map(Column::heading).toList());
        for (Figure figure : Figure.values()) {
            boolean known =
                    comparison.stockValue(figure).isPresent()
                            || comparison.variants().stream()
                                    .anyMatch(each -> each.figures().get(figure).isPresent());
            if (figure != Figure.STOCK_ARENA && known) {
                rows.add(columns.stream().map(column -> column.cell().apply(figure)).toList());
            }
        }
        return TextTable.of(rows);
    }

    private static void addAll(
            List<Column> columns, Comparison comparison, String name, Variant other) {
        columns.add(column(name, other.figures()));
        for (Variant each : comparison.variants()) {
            RunMode mode = each.mode();
            columns.add(ratio(mode, name, figure -> comparison.ratio(mode, figure, name)));
        }
    }

    private static Column column(String heading, RunFigures figures) {
        return new Column(heading, figure -> text(figure, figures.get(figure)));
    }

    private static Column ratio(RunMode mode, String base, Function<Figure, OptionalDouble> ratio) {
        return new Column(
                mode.label() + "/" + base,
                figure -> {
                    OptionalDouble value =
                            Comparison.RATIOS.contains(figure)
                                    ? ratio.apply(figure)
                                    : OptionalDouble.empty();
                    return value.isPresent() ? Figures.format("%.3f", value.getAsDouble()) : "";
                });
    }

    /** Returns sentences about the outputs' differences, the choice and its reason. */
    static List<String> sentences(Comparison comparison) {
        List<String> lines = new ArrayList<>();
        comparison.lost().map(ReferenceOutputs::sentence).ifPresent(lines::add);
        for (Variant variant : comparison.variants()) {
            lines.addAll(facts(variant.mode().label() + ": ", variant.figures()));
            lines.add(
                    variant.mode().label()
                            + ": outputs "
                            + verdict(variant, comparison.reference()));
            variant.figures()
                    .delegation()
                    .ifPresent(
                            report ->
                                    lines.addAll(DelegationFacts.outputs(report, variant.types())));
        }
        comparison
                .against()
                .forEach(
                        (name, other) ->
                                other.filter(run -> !run.outputs().identical())
                                        .ifPresent(
                                                run ->
                                                        lines.add(
                                                                name
                                                                        + ": outputs differ from"
                                                                        + " stock's by "
                                                                        + run.outputs().text())));
        return lines;
    }

    private static String verdict(Variant variant, String reference) {
        OutputDifference outputs = variant.outputs();
        if (outputs.identical()) {
            return "are identical to %s (SHA-256 %s)"
                    .formatted(reference, variant.figures().outputSha256());
        }
        if (!variant.agrees()) {
            return "DIFFER from " + reference + " by " + outputs.text();
        }
        return "agree with " + reference + " " + outputs.agreement(variant.limits());
    }

    /**
     * Returns the facts that a run reports beyond its figures.
     *
     * @param label placed before facts that several runs may have
     */
    private static List<String> facts(String label, RunFigures figures) {
        List<String> lines = new ArrayList<>();
        figures.delegation()
                .ifPresent(report -> lines.add("delegated: " + DelegationFacts.choice(report)));
        figures.budget().ifPresent(report -> lines.add(label + report));
        figures.unplannedReason()
                .ifPresent(
                        reason -> lines.add(label + "runs as stock: " + TextTable.plain(reason)));
        return lines;
    }

    private static String title(RunFigures figures) {
        return Figures.title(figures.model(), figures.engine(), figures.threads(), "");
    }

    private static String text(Figure figure, OptionalDouble value) {
        if (value.isEmpty()) {
            return Figures.ABSENT;
        }
        double number = value.getAsDouble();
        return switch (figure.unit()) {
            case MILLIS -> Figures.format("%.3f ms", number);
            case RATE -> Figures.format("%.1f", number);
            case COUNT -> Figures.format("%.0f", number);
            case BYTES -> Figures.format("%.3f MiB", number / (1 << 20));
        };
    }
}
