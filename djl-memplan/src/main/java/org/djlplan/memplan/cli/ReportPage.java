package org.djlplan.memplan.cli;

import java.util.List;
import java.util.stream.Collectors;

/** Comparisons as a web page that needs nothing else. */
final class ReportPage {

    private static final String PAGE =
            """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>djlplan: stock, planned and delegated</title>
            <style>
              body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem }
              table { border-collapse: collapse; width: 100%% }
              th, td { border-bottom: 1px solid #ccc; padding: .3rem .6rem; text-align: right }
              th:first-child, td:first-child { text-align: left }
            </style>
            <h1>djlplan: stock, planned and delegated</h1>
            %s</html>
            """;

    private static final String SECTION =
            """
            <h2>%1$s</h2>
            <table>
            %2$s</table>
            <p>%3$s</p>
            """;

    private ReportPage() {}

    /** Returns the page's text, to be written in UTF-8, with one table per comparison. */
    static String of(List<Comparison> comparisons) {
        return PAGE.formatted(
                comparisons.stream().map(ReportPage::section).collect(Collectors.joining()));
    }

    private static String section(Comparison comparison) {
        return SECTION.formatted(
                TextTable.escape(FigureTable.heading(comparison)),
                FigureTable.rows(comparison).html(),
                FigureTable.sentences(comparison).stream()
                        .map(TextTable::escape)
                        .collect(Collectors.joining("<br>\n")));
    }
}
