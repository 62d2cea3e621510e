package org.djlplan.delegation.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.djlplan.delegation.cli.Chart.Point;
import org.djlplan.delegation.cli.Study.PartitionCost;
import org.djlplan.delegation.cli.Study.SetTime;

/** A study's charts. */
final class StudyCharts {

    private static final double BAR = 0.36;

    private StudyCharts() {}

    /** Returns the latency of every set, by how many partitions it delegates. */
    static String latencies(Study study) {
        List<SetTime> measured = study.fastest();
        int most = measured.stream().mapToInt(set -> set.partitions().size()).max().orElse(0);
        double slowest = measured.stream().mapToDouble(StudyCharts::millis).max().orElse(0);
        Chart chart =
                new Chart(
                        "Latency of sets of partitions of " + study.model(),
                        Axis.whole("delegated partitions", 0, most),
                        Axis.upTo("median latency, ms", slowest));
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
                                                Math.max(cost.cpuNanos(), cost.delegateNanos())))
                        .max()
                        .orElse(0);
        Chart chart =
                new Chart(
                        "Time of the partitions of " + study.model(),
                        Axis.whole("partition", 1, last),
                        Axis.upTo("time per inference, ms", slowest));
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
