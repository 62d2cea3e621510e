package org.djlplan.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.study.csv.CsvFiles;
import org.djlplan.study.csv.CsvPlan;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Plans the memory of a model, or of a file of usage records. Blocks, TorchScript and ONNX models
 * are run, because their allocations are known only after a run. A TensorFlow Lite model is not
 * run.
 */
@Command(
        name = "plan",
        description = "Plan the memory of a model's intermediate tensors and compare strategies.")
public final class PlanCommand implements Callable<Integer> {

    private final PlanInput.GraphSource source;

    @Spec private CommandSpec spec;

    @Parameters(
            paramLabel = "MODEL",
            converter = ModelRef.Converter.class,
            description = {
                "A model (.tflite, .pt, .onnx); usage records (.csv: id,lower,upper,size);"
                        + " zoo:NAME, one of DJL's own networks; or block:CLASS, a block on the class"
                        + " path with a public constructor without parameters. Models other than .tflite are run."
            })
    private ModelRef model;

    @Option(
            names = "--input-shape",
            paramLabel = "D,D,…[:TYPE]",
            converter = InputSpec.Converter.class,
            description =
                    "Shape of a block's, a TorchScript or an ONNX model's input; once per input"
                            + " (default: a network's own, or those in an ONNX model).")
    private List<InputSpec> inputs = new ArrayList<>();

    @Option(
            names = "--live",
            description = "Open the model in the engine, to plan kernels' temporaries as well.")
    private boolean live;

    @Option(
            names = "--strategy",
            paramLabel = "NAME",
            defaultValue = PlanRun.Choice.ALL,
            description = {
                "One strategy; 'best' for the best of the strategies that loads use; or"
                        + " 'all' (the default), which includes shared objects."
            })
    private String strategy;

    @Option(
            names = "--parallel",
            description =
                    "Also plan, by special strategies, for an engine that runs independent "
                            + "branches at once, and print how much larger that plan is; --out and "
                            + "--capacity then refer to that plan.")
    private boolean parallel;

    @Mixin private PlanSearch search = new PlanSearch();

    @Option(
            names = "--repeat",
            paramLabel = "N",
            defaultValue = "1",
            description = "Plan N times after a warm-up and print the median time.")
    private int repeat;

    @Option(
            names = "--out",
            paramLabel = "PLAN.csv",
            description =
                    "Write the best plan; shared objects are written as offsets, end to " + "end.")
    private Path out;

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    /** Creates the command for {@code djlplan}, which can read models. */
    PlanCommand(PlanInput.GraphSource source) {
        this.source = source;
    }

    @Override
    public Integer call() throws IOException {
        PlanRun.Choice choice = checkUsage();
        PlanInput input = read();
        PlanRun run =
                PlanRun.of(
                        input,
                        choice,
                        search.limits(!parallel),
                        ProgressLine.ifWatched(spec.commandLine().getErr()));
        OffsetPlan best =
                run.bestPlan()
                        .orElseThrow(
                                () ->
                                        new IllegalStateException(
                                                "no valid plan by "
                                                        + strategy
                                                        + " of "
                                                        + model.text()));
        PlanOutput output = run.describe(choice.bestOnly(), repeat);
        Optional<PlanOutput.ParallelPrice> price =
                input.graph()
                        .filter(graph -> parallel)
                        .map(g -> PlanOutput.ParallelPrice.of(g, best));
        OffsetPlan chosen = price.map(PlanOutput.ParallelPrice::plan).orElse(best);
        if (out != null) {
            write(CsvPlan.of(chosen, input.ids()));
        }
        PrintWriter printer = spec.commandLine().getOut();
        printer.println(json ? output.toJson(price) : output.toText(price));
        printer.flush();
        return isWithinCapacity(chosen.totalBytes()) ? ExitCode.OK : ExitCode.SOFTWARE;
    }

    /** Writes all or nothing, even if the command is interrupted. */
    private void write(CsvPlan plan) throws IOException {
        Path parent = out.toAbsolutePath().getParent();
        if (parent != null && !Files.isDirectory(parent)) {
            throw new NoSuchFileException(out.toString());
        }
        StringWriter text = new StringWriter();
        CsvFiles.writePlan(text, plan);
        WholeFile.write(out, text.toString());
    }

    private boolean isRecorded() {
        return model instanceof ModelRef.OfFile
                && (model.engine().equals(Optional.of(EngineKind.ONNX_RUNTIME))
                        || model.engine().equals(Optional.of(EngineKind.PYTORCH)));
    }

    private PlanInput read() throws IOException {
        if (model instanceof ModelRef.OfFile ofFile) {
            Path file = ofFile.file();
            if (isRecorded()) {
                return new ReportPlan(
                                RunOptions.of(model.text(), inputs, spec),
                                Optional.empty(),
                                step -> {},
                                spec.commandLine().getErr())
                        .recordedInput();
            }
            return PlanInput.isCsv(file)
                    ? PlanInput.readCsv(file)
                    : PlanInput.readModel(file, source, live);
        }
        try {
            return PlanInput.runBlock(model, source, inputs);
        } catch (IllegalArgumentException e) {
            throw usage(e.getMessage());
        }
    }

    private void checkFile(Path file) {
        if (isRecorded()) {
            if (parallel) {
                throw usage("--parallel needs a graph, and this model is run for allocations");
            }
            return;
        }
        if (!PlanInput.isCsv(file) && !PlanInput.isModel(file)) {
            throw usage("'" + file + "' is no .tflite, .pt, .onnx or .csv file");
        }
        if (parallel && PlanInput.isCsv(file)) {
            throw usage("--parallel needs a graph, and a .csv file has none");
        }
        if (!inputs.isEmpty()) {
            throw usage("--input-shape is for blocks");
        }
    }

    private PlanRun.Choice checkUsage() {
        if (model instanceof ModelRef.OfFile ofFile) {
            checkFile(ofFile.file());
        }
        if (live && !(model instanceof ModelRef.OfFile of && PlanInput.isModel(of.file()))) {
            throw usage("--live needs a .tflite file");
        }
        if (repeat < 1) {
            throw usage("--repeat must be at least 1: " + repeat);
        }
        try {
            search.check();
            return PlanRun.Choice.named(strategy);
        } catch (IllegalArgumentException e) {
            throw usage(e.getMessage());
        }
    }

    private ParameterException usage(String problem) {
        return new ParameterException(spec.commandLine(), problem);
    }

    private boolean isWithinCapacity(long bytes) {
        Optional<String> excess = search.excess(bytes);
        PrintWriter errors = spec.commandLine().getErr();
        excess.ifPresent(problem -> errors.println("djlplan: " + problem));
        errors.flush();
        return excess.isEmpty();
    }
}
