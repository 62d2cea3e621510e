package org.djlplan.cli;

import com.google.gson.JsonElement;
import java.util.List;
import java.util.OptionalDouble;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.json.Json;

/** The run section of a report: how a model ran as stock and in other modes. */
final class ReportRun {

    /** Name of the part. */
    static final String NAME = "run";

    private ReportRun() {}

    /**
     * Returns the part.
     *
     * @param watch observations of {@code comparison}
     * @param others comparisons of which only the tables are included
     */
    static JsonElement of(Comparison comparison, RunWatch watch, List<Comparison> others) {
        Stream<Way> variants =
                comparison.variants().stream().map(each -> way(each.mode(), each.figures(), watch));
        return Json.sparse(
                new Run(
                        Stream.concat(
                                        Stream.of(way(RunMode.STOCK, comparison.stock(), watch)),
                                        variants)
                                .toList(),
                        Stream.concat(Stream.of(comparison), others.stream())
                                .map(ReportRun::table)
                                .toList()));
    }

    private record Run(List<Way> ways, List<Table> tables) {}

    /** Observations of a mode. */
    private record Way(
            String name,
            List<Long> latencyNanos,
            OptionalDouble pageFaults,
            List<RunWatch.Sample> resident) {}

    private record Table(
            String title, List<String> heading, List<List<String>> rows, List<String> notes) {}

    private static Way way(RunMode mode, RunFigures figures, RunWatch watch) {
        OptionalDouble faults = figures.get(Figure.PAGE_FAULTS);
        return new Way(
                mode.label(),
                watch.latencyNanos(mode.label()),
                faults.isPresent()
                        ? OptionalDouble.of(Math.round(faults.getAsDouble() * 10) / 10.)
                        : faults,
                watch.resident(mode.label()));
    }

    private static Table table(Comparison comparison) {
        List<List<String>> rows = FigureTable.rows(comparison).rows();
        return new Table(
                FigureTable.heading(comparison),
                rows.get(0),
                rows.subList(1, rows.size()),
                FigureTable.sentences(comparison));
    }
}
