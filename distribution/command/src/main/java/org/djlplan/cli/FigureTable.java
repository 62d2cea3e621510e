package org.djlplan.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import org.djlplan.cli.Comparison.Variant;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/** Formats figures as tables: one line per figure, numbers right-aligned with their units. */
final class FigureTable {

    private static final String ABSENT = "–";

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

    /**
     * Returns the table of a comparison: a heading; then label, stock, figure and ratio of each
     * other mode, and figure and ratios of every available allocator.
     */
    static TextTable rows(Comparison comparison) {
        ImmutableList.Builder<ImmutableList<String>> rows = ImmutableList.builder();
        ImmutableList.Builder<String> heading =
                ImmutableList.<String>builder().add("", RunMode.STOCK.label());
        for (Variant variant : comparison.variants()) {
            heading.add(variant.mode().label(), variant.mode().label() + "/stock");
        }
        comparison
                .against()
                .forEach(
                        (name, other) -> {
                            if (other.isPresent()) {
                                heading.add(name);
                                comparison
                                        .variants()
                                        .forEach(
                                                each ->
                                                        heading.add(
                                                                each.mode().label() + "/" + name));
                            }
                        });
        rows.add(heading.build());
        for (Figure figure : Figure.values()) {
            boolean known =
                    comparison.stockValue(figure).isPresent()
                            || comparison.variants().stream()
                                    .anyMatch(each -> each.figures().get(figure).isPresent());
            if (figure != Figure.STOCK_ARENA && known) {
                rows.add(row(comparison, figure));
            }
        }
        return TextTable.of(rows.build());
    }

    private static ImmutableList<String> row(Comparison comparison, Figure figure) {
        boolean hasRatio = Comparison.RATIOS.contains(figure);
        ImmutableList.Builder<String> row = ImmutableList.builder();
        row.add(figure.label(), text(figure, comparison.stockValue(figure)));
        for (Variant variant : comparison.variants()) {
            row.add(
                    text(figure, variant.figures().get(figure)),
                    hasRatio ? ratio(comparison.ratio(variant.mode(), figure)) : "");
        }
        comparison
                .against()
                .forEach(
                        (name, other) -> {
                            if (other.isPresent()) {
                                row.add(text(figure, other.get().figures().get(figure)));
                                for (Variant variant : comparison.variants()) {
                                    row.add(
                                            hasRatio
                                                    ? ratio(
                                                            comparison.ratio(
                                                                    variant.mode(), figure, name))
                                                    : "");
                                }
                            }
                        });
        return row.build();
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

    private static String ratio(OptionalDouble ratio) {
        return ratio.isPresent() ? format("%.3f", ratio.getAsDouble()) : "";
    }

    private static String title(RunFigures figures) {
        String threads =
                figures.threads().isPresent() ? ", threads: " + figures.threads().getAsInt() : "";
        return figures.model() + " (" + figures.engine() + threads + ")";
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
}
