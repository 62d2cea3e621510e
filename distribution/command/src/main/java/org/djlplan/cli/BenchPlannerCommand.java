package org.djlplan.cli;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.study.search.ExactSearch;
import org.djlplan.study.search.SearchLimits;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.djlplan.thirdparty.guava.io.MoreFiles;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints quality and time of every strategy on files of usage records or on generated problems. */
@Command(
        name = "bench-planner",
        description = "Compare quality and time of every strategy, as a table.")
final class BenchPlannerCommand implements Callable<Integer> {

    /** For larger problems the strategies of the table and the validator take too long. */
    private static final int MOST_UNITS = 1_000_000;

    @Spec private CommandSpec spec;

    @Parameters(
            paramLabel = "FILE.csv",
            arity = "0..*",
            description =
                    "Usage records (id,lower,upper,size); without files, problems are "
                            + "generated.")
    private List<Path> files = new ArrayList<>();

    @Option(
            names = "--units",
            paramLabel = "N",
            split = ",",
            converter = Parsed.Positive.class,
            description =
                    "Sizes of generated problems, for curves of cost (default:"
                            + " 100,1000,10000,100000).")
    private List<Integer> units = new ArrayList<>();

    @Option(
            names = "--kind",
            paramLabel = "KIND",
            split = ",",
            description =
                    "Kinds of generated problems: ${COMPLETION-CANDIDATES} (default: all of them).")
    private List<GeneratedProblems> kinds = new ArrayList<>();

    @Option(
            names = "--repeat",
            paramLabel = "N",
            defaultValue = "5",
            converter = Parsed.Positive.class,
            description =
                    "Number of runs after a warm-up for the median (default: 5); fewer if "
                            + "they take more than 10 seconds together.")
    private int repeat;

    @Option(
            names = "--warm-up",
            paramLabel = "TIME",
            converter = Parsed.Time.class,
            defaultValue = "200ms",
            description =
                    "How long each strategy runs before it is timed, so that its code is "
                            + "compiled (default: 200ms).")
    private Duration warmUp;

    @Option(
            names = "--techniques",
            description =
                    "Instead, search each file for a plan that fits --capacity, with all "
                            + "techniques of the search and with each switched off.")
    private boolean techniques;

    @Option(
            names = "--capacity",
            paramLabel = "BYTES",
            converter = Parsed.Bytes.class,
            description = "The capacity in bytes that plans must fit into; for --techniques.")
    private Long capacityBytes;

    @Option(
            names = "--time-limit",
            paramLabel = "TIME",
            converter = Parsed.Time.class,
            description = "How long each search for --techniques may take (default: 10s).")
    private Duration timeLimit;

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    /**
     * Output of the command; the fields are those of its JSON.
     *
     * @param repeat requested number of repetitions
     * @param results one per instance and strategy
     * @param curves one per kind of generated instance and strategy
     * @param techniques one per instance and technique of the search
     */
    private record Output(
            int repeat,
            List<PlannerBench.Row> results,
            List<PlannerBench.CostCurve> curves,
            List<PlannerBench.SearchRow> techniques) {

        String toText() {
            TextTable rows =
                    new TextTable(
                            true,
                            "instance",
                            "units",
                            "strategy",
                            "bytes",
                            "% > bound",
                            "median ms",
                            "runs",
                            "");
            for (PlannerBench.Row row : results) {
                rows.row(
                        row.instance(),
                        Integer.toString(row.units()),
                        row.strategy(),
                        Long.toString(row.totalBytes()),
                        Figures.format("%.3f", row.percentAboveBound()),
                        Figures.format("%.3f", row.medianMillis()),
                        Integer.toString(row.runs()),
                        row.valid() ? "" : "INVALID");
            }
            TextTable growth =
                    new TextTable(false, "cost curve of", "strategy", "units", "exponent");
            for (PlannerBench.CostCurve curve : curves) {
                growth.row(
                        curve.instance(),
                        curve.strategy(),
                        curve.fromUnits() + "-" + curve.toUnits(),
                        Figures.format("%.2f", curve.exponent()));
            }
            TextTable searches =
                    new TextTable(
                            true,
                            "instance",
                            "search without",
                            "seconds",
                            "nodes",
                            "bytes",
                            "fits");
            for (PlannerBench.SearchRow row : techniques) {
                searches.row(
                        row.instance(),
                        row.without(),
                        Figures.format("%.3f", row.seconds()),
                        Long.toString(row.nodes()),
                        Long.toString(row.totalBytes()),
                        row.fits() ? "yes" : "no");
            }
            return Stream.of(rows, growth, searches)
                    .filter(table -> table.rows().size() > 1)
                    .map(TextTable::text)
                    .collect(Collectors.joining("\n"));
        }
    }

    @Override
    public Integer call() throws IOException {
        try {
            checkUsage();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
        Output output = techniques ? searchFiles() : planAll();
        PrintWriter printer = spec.commandLine().getOut();
        printer.print(json ? Json.pretty(Json.tree(output)) + "\n" : output.toText());
        printer.flush();
        return output.results().stream().allMatch(PlannerBench.Row::valid)
                ? ExitCode.OK
                : ExitCode.SOFTWARE;
    }

    private Output planAll() throws IOException {
        PlannerBench bench = new PlannerBench(repeat, warmUp);
        List<PlannerBench.Row> rows = new ArrayList<>();
        for (PlannerBench.Instance instance : files.isEmpty() ? generated() : read()) {
            rows.addAll(bench.rows(instance));
        }
        return new Output(
                repeat,
                rows,
                files.isEmpty() ? PlannerBench.CostCurve.of(rows) : List.of(),
                List.of());
    }

    private Output searchFiles() throws IOException {
        SearchLimits limits =
                SearchLimits.ofTime(
                                timeLimit == null ? Duration.ofSeconds(10) : timeLimit,
                                Machine.cores())
                        .withCapacityBytes(capacityBytes);
        List<PlannerBench.SearchRow> rows = new ArrayList<>();
        int most = new ExactSearch().largestProblem();
        for (PlannerBench.Instance instance : read()) {
            int size = instance.problem().units().size();
            if (size > most) {
                throw new Failure(
                        "%s has %d units, the search admits %d"
                                .formatted(instance.name(), size, most));
            }
            rows.addAll(PlannerBench.search(instance, limits, capacityBytes));
        }
        return new Output(1, List.of(), List.of(), rows);
    }

    private List<PlannerBench.Instance> read() throws IOException {
        List<PlannerBench.Instance> instances = new ArrayList<>();
        for (Path file : files) {
            instances.add(
                    new PlannerBench.Instance(
                            MoreFiles.getNameWithoutExtension(file),
                            PlanInput.readCsv(file).variants().get(0)));
        }
        return instances;
    }

    /** Ordered by size within each kind, as curves require. */
    private List<PlannerBench.Instance> generated() {
        List<Integer> sizes = units.isEmpty() ? List.of(100, 1_000, 10_000, 100_000) : units;
        List<PlannerBench.Instance> instances = new ArrayList<>();
        for (GeneratedProblems kind :
                kinds.isEmpty() ? List.of(GeneratedProblems.values()) : kinds) {
            for (int size : ImmutableSortedSet.copyOf(sizes)) {
                instances.add(
                        new PlannerBench.Instance(
                                kind.label(), kind.problem(size, GeneratedProblems.SEED)));
            }
        }
        return instances;
    }

    private void checkUsage() {
        files.forEach(file -> checkArgument(PlanInput.isCsv(file), "'%s' is no .csv file", file));
        checkArgument(
                files.isEmpty() || (units.isEmpty() && kinds.isEmpty()),
                "--units and --kind are for generated problems, not for files");
        units.forEach(
                size ->
                        checkArgument(
                                size <= MOST_UNITS,
                                "--units must be at most %s: %s",
                                MOST_UNITS,
                                size));
        checkArgument(
                techniques || (capacityBytes == null && timeLimit == null),
                "--capacity and --time-limit are for --techniques");
        checkArgument(
                !techniques || (!files.isEmpty() && capacityBytes != null),
                "--techniques needs files and --capacity");
    }
}
