package org.djlplan.memplan.cli;

import com.google.common.collect.ImmutableList;
import com.google.common.html.HtmlEscapers;
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
        ImmutableList<ImmutableList<String>> rows = FigureTable.rows(comparison);
        StringBuilder table = new StringBuilder(row(rows.get(0), "th"));
        rows.stream().skip(1).forEach(cells -> table.append(row(cells, "td")));
        return SECTION.formatted(
                escape(FigureTable.heading(comparison)),
                table,
                FigureTable.sentences(comparison).stream()
                        .map(ReportPage::escape)
                        .collect(Collectors.joining("<br>\n")));
    }

    private static String row(List<String> cells, String tag) {
        StringBuilder row = new StringBuilder("<tr>");
        for (String cell : cells) {
            row.append("<%1$s>%2$s</%1$s>".formatted(tag, escape(cell)));
        }
        return row.append("</tr>\n").toString();
    }

    private static String escape(String text) {
        return HtmlEscapers.htmlEscaper().escape(text);
    }
}
