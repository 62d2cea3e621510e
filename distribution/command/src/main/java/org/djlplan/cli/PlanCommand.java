package org.djlplan.cli;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.djlplan.memplan.internal.json.Json;
import org.djlplan.memplan.internal.plan.Attempt;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.study.csv.CsvPlan;
import org.djlplan.study.parallel.ParallelPlanner;
import org.djlplan.study.search.SearchLimits;
import picocli.CommandLine.Command;
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
final class PlanCommand implements Callable<Integer> {

    @Spec private CommandSpec spec;

    @Parameters(
            paramLabel = "MODEL",
            description = {
                "A model (.tflite, .pt, .onnx); usage records (.csv: id,lower,upper,size);"
                        + " zoo:NAME, one of DJL's own networks; or block:CLASS, a block on the class"
                        + " path with a public constructor without parameters. Models other than .tflite are run."
            })
    private ModelRef model;

    @Option(
            names = "--input-shape",
            paramLabel = "D,D,…[:TYPE]",
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

    @Option(
            names = "--capacity",
            paramLabel = "BYTES",
            converter = Parsed.Bytes.class,
            description =
                    "Search for a plan that fits, not for the smallest; exit with 1 if none"
                            + " is found.")
    private Long capacityBytes;

    @Option(
            names = "--time-limit",
            paramLabel = "TIME",
            defaultValue = "10s",
            description =
                    "How long to search for a smaller plan if the best one is not proved "
                            + "minimal: 30s, 500ms, or 0s for no search (default: 10s).")
    private Duration timeLimit;

    @Option(
            names = "--out",
            paramLabel = "PLAN.csv",
            description =
                    "Write the best plan; shared objects are written as offsets, end to " + "end.")
    private Path out;

    @Mixin private JsonOption json = new JsonOption();

    @Override
    public Integer call() throws IOException {
        PlanRun.Choice choice;
        try {
            check();
            choice = PlanRun.Choice.named(strategy);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
        if (out != null) {
            WholeFile.check(out);
        }
        PlanInput input = read();
        PrintWriter err = spec.commandLine().getErr();
        PlanRun run = PlanRun.of(input, choice, searchLimits(), ProgressLine.ifWatched(err));
        OffsetPlan serial = run.best().plan();
        Optional<Attempt> atOnce =
                input.graph().filter(graph -> parallel).map(ParallelPlanner::plan);
        OffsetPlan chosen = atOnce.map(Attempt::plan).orElse(serial);
        if (out != null) {
            WholeFile.write(out, CsvPlan.of(chosen, input.ids()).text());
        }
        PlanRun.Output output =
                run.describe(
                        choice.bestOnly(),
                        atOnce.map(each -> PlanRun.Parallel.of(each, serial.totalBytes())));
        json.print(() -> Json.sparse(output), output::toText);
        long bytes = chosen.totalBytes();
        return Failure.complain(
                err,
                capacityBytes == null || bytes <= capacityBytes
                        ? List.of()
                        : List.of(
                                "the best plan needs %d bytes, more than the capacity of %d"
                                        .formatted(bytes, capacityBytes)));
    }

    private Optional<SearchLimits> searchLimits() {
        Optional<SearchLimits> limits = PlanRun.limits(timeLimit);
        return capacityBytes == null || parallel
                ? limits
                : limits.map(each -> each.withCapacityBytes(capacityBytes));
    }

    private PlanInput read() throws IOException {
        if (!(model instanceof ModelRef.OfFile of) || isRecorded()) {
            return new ReportPlan(
                            RunOptions.of(model.text(), inputs, spec),
                            Optional.empty(),
                            spec.commandLine().getErr()::println)
                    .recorded();
        }
        return PlanInput.isCsv(of.file())
                ? PlanInput.readCsv(of.file())
                : PlanInput.readModel(of.file(), live);
    }

    private boolean isRecorded() {
        return model.engine().filter(engine -> engine != EngineKind.TFLITE).isPresent();
    }

    private void check() {
        boolean tfLite = model.engine().equals(Optional.of(EngineKind.TFLITE));
        checkArgument(
                tfLite
                        || isRecorded()
                        || (model instanceof ModelRef.OfFile of && PlanInput.isCsv(of.file())),
                "'%s' is no .tflite, .pt, .onnx or .csv file",
                model.text());
        checkArgument(
                tfLite || !parallel,
                "--parallel needs a graph, which neither a .csv file nor a recording has");
        checkArgument(tfLite || !live, "--live needs a .tflite file");
        checkArgument(isRecorded() || inputs.isEmpty(), "--input-shape is for models that are run");
    }
}
