package org.djlplan.delegation.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.djlplan.delegation.cli.Chart.Point;
import org.djlplan.delegation.cli.Study.PartitionCost;
import org.djlplan.delegation.cli.Study.SetTime;
import org.djlplan.memplan.cli.TextTable;

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
                Charts.latencies(study),
                StudyText.verdict(study).stream()
                        .map(StudyPage::escape)
                        .collect(Collectors.joining("<br>\n")),
                Charts.partitions(study),
                table(StudyText.partitions(study)),
                table(StudyText.correlations(study)),
                table(StudyText.rule(study)),
                table(StudyText.sets(study)),
                escape(explained.summary()),
                table(explained.table(false)));
    }

    private static String table(TextTable table) {
        return "<div class=\"wide\"><table>\n" + table.html() + "</table></div>\n";
    }

    private static String escape(String text) {
        return TextTable.escape(text);
    }

    /** A study's charts. */
    private static final class Charts {

        private static final double BAR = 0.36;

        private Charts() {}

        /** Returns the latency of every set, by how many partitions it delegates. */
        static String latencies(Study study) {
            List<SetTime> measured = study.fastest();
            int most = measured.stream().mapToInt(set -> set.partitions().size()).max().orElse(0);
            double slowest = measured.stream().mapToDouble(Charts::millis).max().orElse(0);
            Chart chart =
                    new Chart(
                            "Latency of sets of partitions of " + study.model(),
                            Chart.Axis.whole("delegated partitions", 0, most),
                            Chart.Axis.upTo("median latency, ms", slowest));
            study.set(Set.of())
                    .filter(cpu -> cpu.measured().isPresent())
                    .ifPresent(cpu -> chart.level("cpu", millis(cpu)));
            measured.forEach(set -> chart.dot("set", point(set), 4, text(set)));
            List<Point> rule = new ArrayList<>();
            for (Set<Integer> partitions : study.rule()) {
                study.set(partitions)
                        .filter(set -> set.measured().isPresent())
                        .ifPresent(
                                set -> {
                                    rule.add(point(set));
                                    chart.dot("rule", point(set), 5, "TFLite's rule: " + text(set));
                                });
            }
            chart.line("rule", rule);
            Optional<SetTime> ours = study.ours().filter(set -> set.measured().isPresent());
            ours.ifPresent(set -> chart.dot("ours", point(set), 8, "chosen: " + text(set)));
            chart.legend("cpu", "CPU kernels");
            chart.legend("set", "a set");
            chart.legend("rule", "TFLite's first N");
            chart.legend("ours", "chosen");
            return chart.svg();
        }

        /** Returns what each partition takes on either side. */
        static String partitions(Study study) {
            int last =
                    study.costs().stream()
                            .mapToInt(cost -> cost.unit().partition() + 1)
                            .max()
                            .orElse(1);
            double slowest =
                    study.costs().stream()
                            .mapToDouble(
                                    cost ->
                                            Figures.inMillis(
                                                    Math.max(
                                                            cost.cpuNanos(), cost.delegateNanos())))
                            .max()
                            .orElse(0);
            Chart chart =
                    new Chart(
                            "Time of the partitions of " + study.model(),
                            Chart.Axis.whole("partition", 1, last),
                            Chart.Axis.upTo("time per inference, ms", slowest));
            for (PartitionCost cost : study.costs()) {
                int at = cost.unit().partition() + 1;
                bar(chart, "cpu", at - BAR, at, cost.cpuNanos());
                bar(chart, "delegate", at, at + BAR, cost.delegateNanos());
            }
            chart.legend("cpu", "CPU kernels");
            chart.legend("delegate", "delegate");
            return chart.svg();
        }

        private static void bar(Chart chart, String kind, double from, double to, long nanos) {
            chart.bar(kind, from, to, Figures.inMillis(nanos), Figures.millis(nanos));
        }

        private static Point point(SetTime set) {
            return new Point(set.partitions().size(), millis(set));
        }

        private static double millis(SetTime set) {
            return Figures.inMillis(set.medianNanos().orElseThrow());
        }

        private static String text(SetTime set) {
            return set.name() + ", " + Figures.millis(set.medianNanos().orElseThrow());
        }
    }
}
