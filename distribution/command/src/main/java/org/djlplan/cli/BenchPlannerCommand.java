package org.djlplan.cli;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.djlplan.memplan.internal.json.Json;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.djlplan.thirdparty.guava.io.MoreFiles;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
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
            description = "Sizes of generated problems (default: 100,1000,10000,100000).")
    private List<Integer> units = new ArrayList<>();

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
            defaultValue = "200ms",
            description =
                    "How long each strategy runs before it is timed, so that its code is "
                            + "compiled (default: 200ms).")
    private Duration warmUp;

    @Mixin private JsonOption json = new JsonOption();

    /**
     * Output of the command; the fields are those of its JSON.
     *
     * @param repeat requested number of repetitions
     * @param results one per instance and strategy
     */
    private record Output(int repeat, List<PlannerBench.Row> results) {

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
            return rows.text();
        }
    }

    @Override
    public Integer call() throws IOException {
        try {
            checkUsage();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
        Output output = planAll();
        json.print(() -> Json.tree(output), output::toText);
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
        return new Output(repeat, rows);
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

    private List<PlannerBench.Instance> generated() {
        List<Integer> sizes = units.isEmpty() ? List.of(100, 1_000, 10_000, 100_000) : units;
        List<PlannerBench.Instance> instances = new ArrayList<>();
        for (GeneratedProblems kind : GeneratedProblems.values()) {
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
                files.isEmpty() || units.isEmpty(),
                "--units is for generated problems, not for files");
        units.forEach(
                size ->
                        checkArgument(
                                size <= MOST_UNITS,
                                "--units must be at most %s: %s",
                                MOST_UNITS,
                                size));
    }
}
