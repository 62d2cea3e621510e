package org.djlplan.cli;

import com.google.gson.JsonElement;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.djlplan.cli.report.ReportFile;
import org.djlplan.memplan.internal.json.Json;
import org.djlplan.study.search.SearchLimits;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code djlplan report}: shows a model's memory and runs as a page, or as data. */
@Command(
        name = "report",
        defaultValueProvider = FewPairs.class,
        description = {
            "Show the memory of a model over time, planned by every strategy: one "
                    + "self-contained page, or data.",
            "A .tflite model is opened in the engine; for other models the "
                    + "allocations of a prediction are recorded; a .csv of usage records is "
                    + "used unchanged."
        })
final class ReportCommand implements Callable<Integer> {

    private static final int ROUNDS = 10;

    @Spec private CommandSpec spec;

    @Mixin private RunOptions options = new RunOptions();

    @Option(
            names = "--html",
            paramLabel = "FILE",
            description =
                    "Write a self-contained page (default without --json: "
                            + "the model's name and -report.html, in the current folder).")
    private Optional<Path> html = Optional.empty();

    @Option(names = "--json", paramLabel = "FILE", description = "Write the report's data.")
    private Optional<Path> json = Optional.empty();

    @Option(
            names = "--runs",
            paramLabel = "N",
            converter = Parsed.NotNegative.class,
            description =
                    "Also run the model N times as stock, planned and, on TFLite, delegated, in"
                            + " turns.")
    private int runs;

    @Option(
            names = "--predictors",
            paramLabel = "N",
            converter = Parsed.NotNegative.class,
            description =
                    "Also predict on N threads at once, and show the workers over time and "
                            + "the memory by purpose.")
    private int predictors;

    @Mixin private DelegationSwitch delegation = new DelegationSwitch();

    @Option(
            names = "--budgets",
            paramLabel = "BUDGET",
            split = ",",
            description =
                    "Also run the model with these budgets, such as 1/2,1/4,24MB; "
                            + "--iterations sets how often.")
    private List<BudgetSweep.Wanted> budgets = new ArrayList<>();

    @Option(
            names = "--with",
            paramLabel = "MODEL",
            description =
                    "Also show another model, such as an earlier version, at the same scale; may be"
                            + " repeated.")
    private List<String> others = new ArrayList<>();

    @Option(
            names = "--time-limit",
            paramLabel = "TIME",
            defaultValue = "10s",
            description =
                    "How long to search for a smaller plan if the best one is not proved "
                            + "minimal (default: ${DEFAULT-VALUE}).")
    private Duration timeLimit = Duration.ZERO;

    /** A model and the size of its arena. */
    private record Named(String name, long arenaBytes, MemoryMap plan) {

        Named(RunOptions options, MemoryMap map) {
            this(Report.nameOf(options), map.bestStrategy().totalBytes(), map);
        }
    }

    @Override
    public Integer call() throws IOException {
        List<RunOptions> more = others.stream().map(this::another).toList();
        checkUsage();
        Optional<Path> page =
                html.isPresent() || json.isPresent() ? html : Optional.of(usualPage());
        for (Optional<Path> file : List.of(page, json)) {
            if (file.isPresent()) {
                WholeFile.check(file.get());
            }
        }
        PrintWriter err = spec.commandLine().getErr();
        ReportPlan.Planned planned = new ReportPlan(options, limits(), err::println).plan();
        Map<String, JsonElement> parts = parts(err);
        if (!more.isEmpty()) {
            parts.put("models", Json.sparse(models(planned.map(), more, err::println)));
        }
        JsonElement report = Report.of(options, planned).toJson(parts);
        PrintWriter out = spec.commandLine().getOut();
        if (page.isPresent()) {
            WholeFile.write(page.get(), ReportFile.html(report));
            out.println("html: " + page.get());
        }
        if (json.isPresent()) {
            WholeFile.write(json.get(), report + "\n");
            out.println("json: " + json.get());
        }
        out.flush();
        return 0;
    }

    private Path usualPage() {
        String name = Report.nameOf(options).replaceAll("[^a-zA-Z0-9._-]", "-");
        return Path.of(name + "-report.html");
    }

    private Optional<SearchLimits> limits() {
        return PlanRun.limits(timeLimit);
    }

    private Map<String, JsonElement> parts(PrintWriter err) throws IOException {
        Map<String, JsonElement> parts = new LinkedHashMap<>();
        if (runs > 0) {
            RunOptions running = options.withIterations(runs);
            err.println("running as stock and planned, in turns");
            RunWatch watch = new RunWatch();
            Comparison comparison =
                    new Comparer(err, Optional.of(watch))
                            .compare(
                                    running,
                                    new Comparer.Extent(ROUNDS, 1, Set.of(), modes(running), 0));
            int unused = Failure.complain(err, comparison.complaints());
            parts.put(ReportRun.NAME, ReportRun.of(comparison, watch, List.of()));
        }
        if (predictors > 0) {
            err.println("predicting on %d threads at once".formatted(predictors));
            PoolWatch.Seen seen = watchedPool(err::println);
            if (!seen.memory().isEmpty()) {
                parts.put("memory", Json.tree(seen.memory()));
            }
            parts.put("workers", Json.tree(Map.of("samples", seen.samples())));
        }
        if (!budgets.isEmpty()) {
            err.println("running in %d budgets, some minutes".formatted(budgets.size()));
            BudgetSweep sweep =
                    new BudgetSweep(options, Optional.empty(), RunMode.PLANNED, err::println);
            parts.put("budget", new BudgetTable(options, sweep.run(budgets)).json(true));
        }
        if (!isCsv(options)
                && options.engine() == EngineKind.TFLITE
                && options.model() instanceof ModelRef.OfFile file) {
            ProfileJson.stored(file.file()).ifPresent(part -> parts.put("delegation", part));
        }
        return parts;
    }

    /** Reports show delegated operators, which only TensorFlow Lite has. */
    private Set<RunMode> modes(RunOptions running) {
        return running.engine() == EngineKind.TFLITE
                ? delegation.modes(running)
                : Set.of(RunMode.PLANNED);
    }

    private PoolWatch.Seen watchedPool(Consumer<String> news) {
        boolean delegates = modes(options).contains(RunMode.DELEGATED);
        try (WorkerProcess worker =
                WorkerProcess.start(
                        WorkerProcess.Contestant.of(
                                delegates ? RunMode.DELEGATED : RunMode.PLANNED),
                        delegates ? options.measuring() : options,
                        news)) {
            worker.awaitLoaded();
            worker.warmUp();
            return worker.watchAtOnce(predictors, options.effort().iterations());
        }
    }

    /**
     * Returns the maps of models that use one arena in turns; the arena has the size of the largest
     * model's.
     */
    private List<Named> models(MemoryMap own, List<RunOptions> more, Consumer<String> news)
            throws IOException {
        List<Named> models = new ArrayList<>(List.of(new Named(options, own)));
        for (RunOptions each : more) {
            models.add(new Named(each, new ReportPlan(each, limits(), news).plan().map()));
        }
        return models;
    }

    private RunOptions another(String model) {
        RunOptions another = options.withModel(model);
        if (!isCsv(another) && another.engine() != EngineKind.TFLITE) {
            another.check(false, true);
        }
        return another;
    }

    private static boolean isCsv(RunOptions options) {
        return options.model() instanceof ModelRef.OfFile file && PlanInput.isCsv(file.file());
    }

    private void checkUsage() {
        boolean runsModel = runs > 0 || predictors > 0 || !budgets.isEmpty();
        if (isCsv(options)) {
            if (runsModel) {
                throw new ParameterException(
                        spec.commandLine(), "--runs, --predictors and --budgets are for models");
            }
        } else if (options.engine() != EngineKind.TFLITE || runsModel) {
            options.check(runsModel, true);
        }
    }
}
