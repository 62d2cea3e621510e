package org.djlplan.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import org.djlplan.study.search.ExactSearch;
import org.djlplan.study.search.SearchLimits;
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
public final class BenchPlannerCommand implements Callable<Integer> {

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
            description =
                    "Number of runs after a warm-up for the median (default: 5); fewer if "
                            + "they take more than 10 seconds together.")
    private int repeat;

    @Option(
            names = "--warm-up",
            paramLabel = "TIME",
            converter = DurationConverter.class,
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
            description = "The capacity in bytes that plans must fit into; for --techniques.")
    private Long capacityBytes;

    @Option(
            names = "--time-limit",
            paramLabel = "TIME",
            converter = DurationConverter.class,
            description = "How long each search for --techniques may take (default: 10s).")
    private Duration timeLimit;

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        checkUsage();
        PlannerBenchOutput output = techniques ? searchFiles() : planAll();
        PrintWriter printer = spec.commandLine().getOut();
        printer.println(json ? output.toJson() : output.toText());
        printer.flush();
        return output.valid() ? ExitCode.OK : ExitCode.SOFTWARE;
    }

    private PlannerBenchOutput planAll() throws IOException {
        PlannerBench bench = new PlannerBench(repeat, warmUp);
        List<PlannerBench.Row> rows = new ArrayList<>();
        for (PlannerBench.Instance instance : files.isEmpty() ? generated() : read()) {
            rows.addAll(bench.rows(instance));
        }
        List<CostCurve> curves = files.isEmpty() ? CostCurve.of(rows) : List.of();
        return new PlannerBenchOutput(repeat, rows, curves, List.of());
    }

    private PlannerBenchOutput searchFiles() throws IOException {
        Duration limit = timeLimit == null ? Duration.ofSeconds(10) : timeLimit;
        PlannerBench.Techniques bench =
                new PlannerBench.Techniques(
                        SearchLimits.ofTime(limit, Runtime.getRuntime().availableProcessors()),
                        capacityBytes);
        List<PlannerBench.Instance> instances = read();
        int most = new ExactSearch().largestProblem();
        for (PlannerBench.Instance instance : instances) {
            int size = instance.problem().units().size();
            if (size > most) {
                throw new Failure(
                        "%s has %d units, the search admits %d"
                                .formatted(instance.name(), size, most));
            }
        }
        List<PlannerBench.Techniques.SearchRow> rows = new ArrayList<>();
        instances.forEach(instance -> rows.addAll(bench.rows(instance)));
        return new PlannerBenchOutput(1, List.of(), List.of(), rows);
    }

    private List<PlannerBench.Instance> read() throws IOException {
        List<PlannerBench.Instance> instances = new ArrayList<>();
        for (Path file : files) {
            String name = file.getFileName().toString();
            instances.add(
                    new PlannerBench.Instance(
                            name.substring(0, name.length() - ".csv".length()),
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
            sizes.stream()
                    .distinct()
                    .sorted(Comparator.naturalOrder())
                    .map(size -> kind.problem(size, GeneratedProblems.SEED))
                    .map(problem -> new PlannerBench.Instance(kind.label(), problem))
                    .forEach(instances::add);
        }
        return instances;
    }

    private void checkUsage() {
        for (Path file : files) {
            if (!PlanInput.isCsv(file)) {
                throw usage("'" + file + "' is no .csv file");
            }
        }
        if (!files.isEmpty() && !(units.isEmpty() && kinds.isEmpty())) {
            throw usage("--units and --kind are for generated problems, not for files");
        }
        for (int size : units) {
            if (size < 1 || size > MOST_UNITS) {
                throw usage("--units must be between 1 and " + MOST_UNITS + ": " + size);
            }
        }
        if (repeat < 1) {
            throw usage("--repeat must be at least 1: " + repeat);
        }
        checkTechniques();
    }

    private void checkTechniques() {
        if (!techniques && (capacityBytes != null || timeLimit != null)) {
            throw usage("--capacity and --time-limit are for --techniques");
        }
        if (techniques && (files.isEmpty() || capacityBytes == null)) {
            throw usage("--techniques needs files and --capacity");
        }
        if (capacityBytes != null && capacityBytes < 0) {
            throw usage("--capacity must not be negative: " + capacityBytes);
        }
    }

    private ParameterException usage(String problem) {
        return new ParameterException(spec.commandLine(), problem);
    }
}
