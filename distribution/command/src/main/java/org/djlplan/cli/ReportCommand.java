package org.djlplan.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.djlplan.cli.PlanInput.View;
import org.djlplan.cli.report.MemoryMap;
import org.djlplan.cli.report.Report;
import org.djlplan.cli.report.ReportFile;
import org.djlplan.cli.report.ReportFormatException;
import org.djlplan.thirdparty.guava.hash.Hashing;
import org.djlplan.thirdparty.guava.io.MoreFiles;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code djlplan report}: shows a model's memory and runs as a page, pictures and data. */
@Command(
        name = "report",
        defaultValueProvider = FewPairs.class,
        description = {
            "Show the memory of a model over time, planned by every strategy: one "
                    + "self-contained page, pictures, or data.",
            "A .tflite model is opened in the engine; for a PyTorch model the "
                    + "allocations of a prediction are recorded; a .csv of usage records is "
                    + "used unchanged. Two files made by --json are compared."
        })
final class ReportCommand implements Callable<Integer> {

    private static final String RECORDS = "records";
    private static final int ROUNDS = 10;

    @Spec private CommandSpec spec;

    @Mixin private RunOptions options = new RunOptions();

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "OTHER.json",
            description = "Another report's data, to compare with.")
    private Optional<Path> other = Optional.empty();

    @Mixin private ReportFiles files = new ReportFiles();

    @Option(
            names = "--view",
            paramLabel = "VIEW",
            description =
                    "Where tensors come from: file or live (.tflite), block or recording (zoo:,"
                            + " block:) (default: live, or file if the engine cannot open the model;"
                            + " recording for PyTorch).")
    private Optional<View> view = Optional.empty();

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
            converter = BudgetCommand.WantedConverter.class,
            description =
                    "Also run the model with these budgets, such as 1/2,1/4,24MB; "
                            + "--iterations sets how often.")
    private List<BudgetSweep.Wanted> budgets = new ArrayList<>();

    @Option(
            names = "--with",
            paramLabel = "MODEL",
            description = "Also show another model that would share the arena; may be repeated.")
    private List<String> others = new ArrayList<>();

    @Option(
            names = "--time-limit",
            paramLabel = "TIME",
            defaultValue = "10s",
            converter = Parsed.Time.class,
            description =
                    "How long to search for a smaller plan if the best one is not proved "
                            + "minimal (default: ${DEFAULT-VALUE}).")
    private Duration timeLimit = Duration.ZERO;

    @Override
    public Integer call() throws IOException {
        if (isReport(options.modelName()) || other.isPresent()) {
            return compare();
        }
        checkUsage();
        String name = nameOf(options);
        files.check(name);
        PrintWriter err = spec.commandLine().getErr();
        try (StepNews news = new StepNews(err, steps())) {
            ReportPlan.Planned planned =
                    new ReportPlan(options, PlanRun.limits(timeLimit), news::next, err).plan(view);
            Map<String, JsonElement> parts = parts(news, err);
            if (!others.isEmpty()) {
                parts.put("models", models(name, planned.map(), news, err));
            }
            news.next("writing");
            files.write(
                    new Report(
                            DjlPlan.VersionProvider.ofProject(),
                            model(name, planned.view()),
                            ReportMachine.facts(),
                            planned.map(),
                            parts),
                    spec.commandLine().getOut());
        }
        return 0;
    }

    private int steps() {
        int ofPlan = 3;
        return ofPlan
                + 2 * others.size()
                + (runs > 0 ? 1 : 0)
                + (predictors > 0 ? 1 : 0)
                + (budgets.isEmpty() ? 0 : 1 + BudgetSweep.steps(budgets.size()));
    }

    private Map<String, JsonElement> parts(StepNews news, PrintWriter err) throws IOException {
        Map<String, JsonElement> parts = new LinkedHashMap<>();
        if (runs > 0) {
            RunOptions running = options.withIterations(runs);
            news.next("running as stock and planned, in turns");
            RunWatch watch = new RunWatch();
            Comparison comparison =
                    new Comparer(err, watch)
                            .compare(
                                    running,
                                    new Comparer.Extent(ROUNDS, 1, Set.of(), modes(running), 0));
            int unused = Failure.complain(err, comparison.complaints());
            parts.put(ReportRun.NAME, ReportRun.of(comparison, watch, List.of()));
        }
        if (predictors > 0) {
            news.next("predicting on %d threads at once".formatted(predictors));
            PoolWatch.Seen seen = watchedPool(err);
            if (!seen.memory().isEmpty()) {
                parts.put("memory", Json.tree(seen.memory()));
            }
            parts.put("workers", Json.tree(Map.of("samples", seen.samples())));
        }
        if (!budgets.isEmpty()) {
            news.next("running in %d budgets, some minutes".formatted(budgets.size()));
            parts.put(
                    ReportBudget.NAME,
                    ReportBudget.of(
                            new BudgetSweep(options, Optional.empty(), RunMode.PLANNED, news::next)
                                    .run(budgets)));
        }
        if (!isCsv()
                && options.engine() == EngineKind.TFLITE
                && options.model() instanceof ModelRef.OfFile file) {
            DelegationPart.of(file.file()).ifPresent(part -> parts.put(DelegationPart.NAME, part));
        }
        return parts;
    }

    /** Reports show delegated operators, which only TensorFlow Lite has. */
    private Set<RunMode> modes(RunOptions running) {
        return running.engine() == EngineKind.TFLITE
                ? delegation.modes(running)
                : Set.of(RunMode.PLANNED);
    }

    private PoolWatch.Seen watchedPool(PrintWriter err) {
        boolean delegates = modes(options).contains(RunMode.DELEGATED);
        try (WorkerProcess worker =
                WorkerProcess.start(
                        WorkerProcess.Contestant.of(
                                delegates ? RunMode.DELEGATED : RunMode.PLANNED),
                        delegates ? options.measuring() : options,
                        Optional.of(new MeasuringNews(err, options.modelName())))) {
            worker.awaitLoaded();
            worker.warmUp();
            return worker.watchAtOnce(predictors, options.effort().iterations());
        }
    }

    /**
     * Returns the maps of models that use one arena in turns; the arena has the size of the largest
     * model's.
     */
    private JsonArray models(String name, MemoryMap own, StepNews news, PrintWriter err)
            throws IOException {
        JsonArray models = new JsonArray();
        models.add(model(name, own));
        for (String each : others) {
            RunOptions another = RunOptions.of(each, options.effort(), spec);
            if (another.model() instanceof ModelRef.OfFile file && PlanInput.isCsv(file.file())) {
                throw usage("--with is for models");
            }
            if (another.engine() != EngineKind.TFLITE) {
                another.check(false, true);
            }
            models.add(
                    model(
                            nameOf(another),
                            new ReportPlan(another, PlanRun.limits(timeLimit), news::next, err)
                                    .plan(Optional.empty())
                                    .map()));
        }
        return models;
    }

    private static JsonObject model(String name, MemoryMap map) {
        JsonObject json = new JsonObject();
        json.addProperty("name", name);
        json.addProperty("arenaBytes", map.bestStrategy().totalBytes());
        json.add("plan", Report.toJson(map));
        return json;
    }

    private static boolean isReport(String file) {
        return file.toLowerCase(Locale.ROOT).endsWith(".json");
    }

    private int compare() throws IOException {
        if (other.isEmpty()
                || !isReport(options.modelName())
                || !isReport(other.get().toString())) {
            throw usage("two reports made by --json are compared, or one model is looked at");
        }
        if (!files.mayBeOnlyPage()) {
            throw usage("of two reports there is a page (--html), and a table here");
        }
        ReportComparison both =
                new ReportComparison(read(Path.of(options.modelName())), read(other.get()));
        Optional<Path> page = files.explicitPage();
        if (page.isPresent()) {
            WholeFile.check(page.get());
            WholeFile.write(page.get(), ReportFile.html(both.toJson()));
        }
        PrintWriter out = spec.commandLine().getOut();
        out.print(both.text());
        page.ifPresent(file -> out.println("html: " + file));
        out.flush();
        return 0;
    }

    private static Report read(Path file) throws IOException {
        try {
            return Report.read(PlanInput.existing(file));
        } catch (ReportFormatException e) {
            throw new Failure(file + ": " + e.getMessage());
        }
    }

    private static String nameOf(RunOptions of) {
        return of.model() instanceof ModelRef.OfFile file
                ? String.valueOf(file.file().getFileName())
                : of.modelName();
    }

    private boolean isCsv() {
        return options.model() instanceof ModelRef.OfFile file && PlanInput.isCsv(file.file());
    }

    private Report.Model model(String name, View seen) throws IOException {
        Optional<Long> bytes = Optional.empty();
        Optional<String> hash = Optional.empty();
        if (options.model() instanceof ModelRef.OfFile of) {
            bytes = Optional.of(Files.size(of.file()));
            hash = Optional.of(MoreFiles.asByteSource(of.file()).hash(Hashing.sha256()).toString());
        }
        return new Report.Model(
                name, isCsv() ? RECORDS : options.engine().engineName(), seen.label(), bytes, hash);
    }

    private void checkUsage() {
        if (isCsv()) {
            if (view.isPresent() && view.get() != View.CSV) {
                throw usage("--view is for models");
            }
            if (runs > 0 || predictors > 0 || !budgets.isEmpty()) {
                throw usage("--runs, --predictors and --budgets are for models");
            }
            return;
        }
        boolean tfLite = options.engine() == EngineKind.TFLITE;
        boolean block = !(options.model() instanceof ModelRef.OfFile);
        boolean fits =
                view.isEmpty()
                        || switch (view.get()) {
                            case FILE, LIVE -> tfLite;
                            case BLOCK -> block;
                            case RECORDING -> !tfLite;
                            case CSV -> false;
                        };
        if (!fits) {
            throw usage(
                    "--view %s does not fit %s".formatted(view.get().label(), options.modelName()));
        }
        boolean runsModel = runs > 0 || predictors > 0 || !budgets.isEmpty();
        if (!tfLite || runsModel) {
            options.check(runsModel, true);
        }
    }

    private ParameterException usage(String problem) {
        return new ParameterException(spec.commandLine(), problem);
    }
}
