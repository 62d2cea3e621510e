package org.djlplan.cli;

import static java.util.stream.Collectors.joining;

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
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.djlplan.cli.demo.MobileNetV2;
import org.djlplan.cli.report.ReportFile;
import org.djlplan.memplan.internal.json.Json;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
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

    @Mixin private JsonOption json = new JsonOption();

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
                            .collect(joining()));
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
        Comparison tfLite =
                compare(options, delegation.modes(options), new Comparer(err, Optional.of(watch)));
        Optional<Comparison> pyTorch = comparePyTorch();
        List<Comparison> all = Stream.concat(Stream.of(tfLite), pyTorch.stream()).toList();
        JsonObject figures = tfLite.toJson();
        figures.add("pyTorch", Json.tree(pyTorch.map(Comparison::toJson)));
        Map<String, JsonElement> parts = new LinkedHashMap<>();
        parts.put(ReportRun.NAME, ReportRun.of(tfLite, watch, pyTorch.stream().toList()));
        ProfileJson.stored(model).ifPresent(part -> parts.put("delegation", part));
        WholeFile.write(jsonFile(), figures + "\n");
        ReportPlan.Planned planned =
                new ReportPlan(options, PlanRun.limits(SEARCH), step -> {}).plan();
        WholeFile.write(pageFile(), ReportFile.html(Report.of(options, planned).toJson(parts)));
        String files = "report: " + pageFile() + " (figures: " + jsonFile() + ")\n";
        json.print(
                () -> figures,
                () ->
                        all.stream()
                                .map(each -> FigureTable.of(each) + "\n")
                                .collect(joining("", "", files)));
        return Failure.complain(err, all.stream().flatMap(c -> c.complaints().stream()).toList());
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
                        new Comparer(err, Optional.empty())));
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
