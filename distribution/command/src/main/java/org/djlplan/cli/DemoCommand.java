package org.djlplan.cli;

import ai.djl.engine.Engine;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.djlplan.cli.demo.MobileNetV2;
import org.djlplan.cli.report.Report;
import org.djlplan.cli.report.ReportFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.study.search.SearchLimits;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code djlplan demo}: compares stock, planned and delegated runs of models that it makes itself.
 */
@Command(
        name = "demo",
        description = {
            "Make a MobileNet v2 for each engine, run it as stock, planned and, on "
                    + "TFLite, delegated to XNNPACK, and write a report.",
            "PyTorch runs with one thread unless --threads says more. Downloads nothing."
        })
final class DemoCommand implements Callable<Integer> {

    private static final int ROUNDS = 5;
    private static final String MODEL = "mobilenet_v2.tflite";
    private static final long MODEL_SEED = 1;
    private static final Duration SEARCH = Duration.ofSeconds(2);

    /** DJL's MobileNet v2, a block of the model zoo. */
    private static final String BLOCK = ModelRef.ZOO + "mobilenet_v2";

    @Spec private CommandSpec spec;

    @Mixin private RunEffort effort = new RunEffort();

    @Mixin private DelegationSwitch delegation = new DelegationSwitch();

    @Option(
            names = "--out",
            paramLabel = "FOLDER",
            defaultValue = ".",
            description = "Where the report is written (default: the current folder).")
    private Path out;

    @Option(
            names = "--keep",
            paramLabel = "FOLDER",
            description = {
                "Leave the TFLite model in this folder, with what was measured and names for its "
                        + "classes (synset.txt), for example to run the examples with."
            })
    private Path keep;

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        WholeFile.check(jsonFile());
        WholeFile.check(pageFile());
        if (keep != null) {
            Files.createDirectories(keep);
            WholeFile.write(
                    keep.resolve("synset.txt"),
                    IntStream.range(0, MobileNetV2.CLASSES)
                            .mapToObj(i -> "class " + i + "\n")
                            .collect(Collectors.joining()));
            return show(keep.resolve(MODEL));
        }
        try (ScratchFolder folder = ScratchFolder.create("djlplan-demo")) {
            return show(folder.path().resolve(MODEL));
        }
    }

    private int show(Path model) throws IOException {
        TfLiteWriter.write(MobileNetV2.build(MODEL_SEED), model);
        RunWatch watch = new RunWatch();
        PrintWriter err = spec.commandLine().getErr();
        RunOptions options = RunOptions.of(model.toString(), effort, spec).named(MODEL);
        Comparison tfLite = compare(options, delegation.modes(options), new Comparer(err, watch));
        Optional<Comparison> pyTorch = comparePyTorch();
        List<Comparison> all = Stream.concat(Stream.of(tfLite), pyTorch.stream()).toList();
        JsonObject figures = tfLite.toJson();
        figures.add("pyTorch", Json.tree(pyTorch.map(Comparison::toJson)));
        PrintWriter writer = spec.commandLine().getOut();
        if (json) {
            writer.println(figures);
        } else {
            all.forEach(comparison -> writer.println(FigureTable.of(comparison)));
        }
        writer.flush();
        Map<String, JsonElement> parts = new LinkedHashMap<>();
        parts.put(ReportRun.NAME, ReportRun.of(tfLite, watch, pyTorch.stream().toList()));
        DelegationPart.of(model).ifPresent(part -> parts.put(DelegationPart.NAME, part));
        WholeFile.write(jsonFile(), Json.pretty(figures) + "\n");
        WholeFile.write(pageFile(), ReportFile.html(page(options, model, parts).toJson()));
        if (!json) {
            writer.println("report: " + pageFile() + " (figures: " + jsonFile() + ")");
            writer.flush();
        }
        return Failure.complain(err, all.stream().flatMap(c -> c.complaints().stream()).toList());
    }

    /** Returns the report of the TensorFlow Lite model, with the tables of all comparisons. */
    private Report page(RunOptions options, Path model, Map<String, JsonElement> parts)
            throws IOException {
        ReportPlan.Planned planned =
                new ReportPlan(
                                options,
                                Optional.of(SearchLimits.ofTime(SEARCH)),
                                step -> {},
                                spec.commandLine().getErr())
                        .plan(Optional.empty());
        return new Report(
                DjlPlan.VersionProvider.ofProject(),
                new Report.Model(
                        MODEL,
                        options.engine().engineName(),
                        planned.view().label(),
                        Optional.of(Files.size(model)),
                        Optional.empty()),
                ReportMachine.facts(),
                planned.map(),
                parts);
    }

    private Optional<Comparison> comparePyTorch() throws IOException {
        PrintWriter err = spec.commandLine().getErr();
        if (!Engine.hasEngine(EngineKind.PYTORCH.engineName())) {
            err.println("the PyTorch engine is not on the class path: TFLite only");
            return Optional.empty();
        }
        // With more threads than idle cores, its figures would be up to ten times as large by
        // chance.
        return Optional.of(
                compare(
                        RunOptions.of(BLOCK, effort.orThreads(1), spec),
                        Set.of(RunMode.PLANNED),
                        new Comparer(err)));
    }

    private static Comparison compare(RunOptions options, Set<RunMode> modes, Comparer comparer)
            throws IOException {
        options.check(true, true);
        return comparer.compare(options, new Comparer.Extent(ROUNDS, 1, Set.of(), modes, 0));
    }

    private Path jsonFile() {
        return out.resolve("djlplan-demo.json").normalize();
    }

    private Path pageFile() {
        return out.resolve("djlplan-demo.html").normalize();
    }
}
