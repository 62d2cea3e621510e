package org.djlplan.delegation.cli;

import com.google.common.html.HtmlEscapers;
import java.util.List;
import java.util.stream.Collectors;

/** A study as a web page that needs nothing else. */
final class StudyPage {

    private static final String PAGE =
            """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>djlplan study: %1$s</title>
            <style>
              :root { color-scheme: light dark; --ink: #1c1c1c; --paper: #ffffff; --faint: #cccccc;
                --cpu: #8a6d00; --set: #7a7a7a; --rule: #c2410c; --ours: #1d4ed8 }
              @media (prefers-color-scheme: dark) {
                :root { --ink: #e8e8e8; --paper: #161616; --faint: #444444;
                  --cpu: #e0b93b; --set: #9a9a9a; --rule: #fb923c; --ours: #7ba4ff }
              }
              body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem;
                padding: 0 1rem; color: var(--ink); background: var(--paper) }
              .wide { overflow-x: auto }
              table { border-collapse: collapse; width: 100%% }
              th, td { border-bottom: 1px solid var(--faint); padding: .3rem .6rem;
                text-align: right; white-space: nowrap }
              th:first-child, td:first-child { text-align: left }
              svg { width: 100%%; height: auto; font-size: 13px }
              svg text { fill: var(--ink) }
              .start { text-anchor: start } .middle { text-anchor: middle } .end { text-anchor: end }
              .grid { stroke: var(--faint); stroke-width: 1 }
              .axis { stroke: var(--ink); stroke-width: 1 }
              rect.cpu { fill: var(--cpu) } rect.set, circle.set { fill: var(--set) }
              rect.rule, circle.rule { fill: var(--rule) }
              rect.delegate, rect.ours { fill: var(--ours) }
              circle.ours { fill: none; stroke: var(--ours); stroke-width: 3 }
              polyline { fill: none; stroke-width: 2 }
              polyline.cpu { stroke: var(--cpu); stroke-dasharray: 6 4 }
              polyline.rule { stroke: var(--rule) }
            </style>
            <h1>%1$s</h1>
            <p>%2$s</p>
            <h2>Latency of the sets of partitions</h2>
            %3$s<p>%4$s</p>
            <h2>Partitions</h2>
            %5$s%6$s<h2>Which feature predicts the time saved</h2>
            <p>Spearman's rank correlation over the partitions.</p>
            %7$s<h2>TensorFlow Lite's own rule</h2>
            <p>The N partitions with most operators; latency also as a multiple of others.</p>
            %8$s<h2>Sets, the fastest first</h2>
            %9$s<h2>Why operators are delegated or not</h2>
            <p>As the usual run chose: %10$s.</p>
            %11$s</html>
            """;

    private StudyPage() {}

    /** Returns the page's text, to be written in UTF-8. */
    static String of(Study study, Explained explained) {
        return PAGE.formatted(
                escape(study.model()),
                escape(StudyText.heading(study)),
                StudyCharts.latencies(study),
                StudyText.verdict(study).stream()
                        .map(StudyPage::escape)
                        .collect(Collectors.joining("<br>\n")),
                StudyCharts.partitions(study),
                table(StudyText.partitions(study)),
                table(StudyText.correlations(study)),
                table(StudyText.rule(study)),
                table(StudyText.sets(study)),
                escape(explained.summary()),
                table(explained.table(false)));
    }

    private static String table(TextTable table) {
        StringBuilder html = new StringBuilder("<div class=\"wide\"><table>\n");
        String tag = "th";
        for (List<String> row : table.rows()) {
            html.append("<tr>");
            for (String cell : row) {
                html.append("<%1$s>%2$s</%1$s>".formatted(tag, escape(cell)));
            }
            html.append("</tr>\n");
            tag = "td";
        }
        return html.append("</table></div>\n").toString();
    }

    private static String escape(String text) {
        return HtmlEscapers.htmlEscaper().escape(text);
    }
}
