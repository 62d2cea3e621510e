package org.djlplan.cli.tune;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.cli.CliCommand;
import org.djlplan.cli.ProgressLine;
import org.djlplan.cli.WholeFile;
import org.djlplan.delegation.internal.DelegationKey;
import org.djlplan.memplan.internal.config.GivenOptions;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.config.Quantities;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.DelegableModel.Urgency;
import org.djlplan.memplan.spi.Tolerance;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code djlplan study}: measures partitions and sets of partitions of a model. */
@Command(
        name = "study",
        description = {
            "Measure the time of every partition of a TensorFlow Lite model in the "
                    + "CPU kernels and in the delegate, and of every set of partitions. Show "
                    + "which feature of partitions predicts best what is worth delegating, "
                    + "and compare the choice of TensorFlow Lite's own rule (the N partitions"
                    + " with most operators) with a usual run of djlplan tune. Nothing is "
                    + "stored.",
            "With more than ten partitions, only some sets are measured: each "
                    + "partition alone, everything but each partition, and the rule's "
                    + "choices."
        })
public final class StudyCommand implements CliCommand {

    private static final Duration USUAL_BUDGET = Duration.ofSeconds(10);
    private static final Duration LONGEST_BUDGET = Duration.ofHours(24);

    @Spec private CommandSpec spec;

    @Mixin private ModelOptions model = new ModelOptions();

    @Mixin private ShapeOptions shapes = new ShapeOptions();

    @Option(
            names = "--threads",
            paramLabel = "N",
            defaultValue = "-1",
            description = "Threads per prediction (default: the engine's own).")
    private int threads;

    @Option(
            names = "--budget",
            paramLabel = "TIME",
            defaultValue = "5m",
            description =
                    "Time after which no more sets are started, such as 90s or 10m; the usual run"
                            + " before them takes 10s at most (default: ${DEFAULT-VALUE}).")
    private String budget;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "20",
            description = "Number of turns of each set (default: ${DEFAULT-VALUE}).")
    private int rounds;

    @Option(
            names = "--chart",
            paramLabel = "FILE.html",
            arity = "0..1",
            fallbackValue = "",
            description =
                    "Write a self-contained page with charts (default of FILE: the model's "
                            + "name with -study.html, in the working directory).")
    private String chart;

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    /** Called by ServiceLoader. */
    public StudyCommand() {}

    @Override
    public Integer call() throws IOException {
        Path file = model.file();
        StudyRun.Settings settings = settings();
        Optional<Path> page = page(file);
        if (page.isPresent()) {
            WholeFile.check(page.get());
        }
        DelegableModel measurable =
                TfLiteModels.open(file, plan(), shapes.mix(TfLiteModels.graph(file)));
        Optional<Study> study =
                Cancellation.cancellable(
                        () -> study(measurable, settings), () -> complain("cancelled"));
        return study.isPresent() ? print(study.get(), measurable, page) : ExitCode.SOFTWARE;
    }

    private int print(Study study, DelegableModel measurable, Optional<Path> page)
            throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        out.print(json ? StudyJson.of(study) + "\n" : StudyText.of(study));
        out.flush();
        if (page.isPresent()) {
            Explained explained =
                    Explained.of(measurable.graph(), measurable.facts(), study.usual());
            WholeFile.write(page.get(), StudyPage.of(study, explained));
            if (!json) {
                out.println("charts: " + page.get());
                out.flush();
            }
        }
        return study.fastest().isEmpty() ? ExitCode.SOFTWARE : ExitCode.OK;
    }

    private Study study(DelegableModel measurable, StudyRun.Settings settings)
            throws IOException, InterruptedException {
        try (CandidateRunner runner = measurable.newProcess(Urgency.AWAITED, Tolerance.AUTO)) {
            return StudyRun.study(
                    measurable.graph(),
                    runner,
                    settings,
                    ProgressLine.ifWatched(spec.commandLine().getErr()));
        } catch (CandidateException e) {
            throw new IllegalStateException(
                    measurable.file() + " cannot be measured: " + e.getMessage(), e);
        }
    }

    private PlanOptions plan() {
        Map<String, String> texts = new HashMap<>();
        model.delegate().ifPresent(name -> texts.put(DelegationKey.DELEGATE.key(), name));
        return PlanOptions.parse(
                GivenOptions.of(texts, Map.of(), Map.of(), List.of(DelegationKey.values())));
    }

    private StudyRun.Settings settings() {
        if (threads != -1 && threads < 1) {
            throw usage("--threads must be at least 1, not " + threads);
        }
        if (rounds < 1) {
            throw usage("--rounds must be at least 1, not " + rounds);
        }
        Duration time =
                Quantities.duration(budget, LONGEST_BUDGET)
                        .orElseThrow(
                                () ->
                                        usage(
                                                "--budget %s: must be a duration of at most 24h,"
                                                                .formatted(budget)
                                                        + " such as 10s, 500ms or 2m"));
        Duration usual = time.compareTo(USUAL_BUDGET) < 0 ? time : USUAL_BUDGET;
        return new StudyRun.Settings(threads, time, rounds, usual, Tolerance.AUTO);
    }

    private Optional<Path> page(Path file) {
        if (chart == null) {
            return Optional.empty();
        }
        if (!chart.isEmpty()) {
            // Prevents overwriting a model if the name of the page was forgotten.
            if (!chart.endsWith(".html")) {
                throw usage("--chart " + chart + ": must be the name of an .html file");
            }
            return Optional.of(Path.of(chart));
        }
        String name = file.getFileName().toString();
        return Optional.of(Path.of(name.substring(0, name.lastIndexOf('.')) + "-study.html"));
    }

    private ParameterException usage(String problem) {
        return new ParameterException(spec.commandLine(), problem);
    }

    private void complain(String line) {
        PrintWriter err = spec.commandLine().getErr();
        err.println("djlplan: " + line);
        err.flush();
    }
}
