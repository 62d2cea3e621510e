package org.djlplan.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import org.djlplan.memplan.report.DelegationReport.Origin;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code djlplan run}: runs a model once in one mode, in a child process, and prints its figures.
 */
@Command(
        name = "run",
        description = {
            "Run a model with djl-plan as an application does, or as stock, with "
                    + "random inputs and measure it.",
            "For TFLite and TorchScript models the stored delegation result is used; without one,"
                    + " the CPU kernels run, or the model as it is.",
            "On PyTorch the first planned run of a model records and stores its "
                    + "plan, which affects its figures; further runs use the stored plan."
        })
final class RunCommand implements Callable<Integer> {

    @Spec private CommandSpec spec;

    @Mixin private RunOptions options = new RunOptions();

    @Option(
            names = "--stock",
            description =
                    "Run without a plan; with --threads, DJL's own TFLite engine runs in a bare"
                            + " interpreter without DJL.")
    private boolean stock;

    @Mixin private DelegationSwitch delegation = new DelegationSwitch();

    @Mixin private JsonOption json = new JsonOption();

    private String hint() {
        String shapes =
                options.engine() == EngineKind.PYTORCH
                        ? " --input-shape " + String.join(" --input-shape ", texts())
                        : "";
        return ("no measurement of %1$s is stored: an application measures it in the "
                        + "background, `djlplan tune %1$s%2$s` at once")
                .formatted(options.modelName(), shapes);
    }

    private List<String> texts() {
        return options.inputs().stream().map(InputSpec::text).toList();
    }

    @Override
    public Integer call() throws IOException {
        if (stock && !options.arguments().isEmpty()) {
            throw new ParameterException(
                    spec.commandLine(), "-o is for planned models: not with --stock");
        }
        RunMode mode =
                stock
                        ? RunMode.STOCK
                        : delegation.delegates(options) ? RunMode.DELEGATED : RunMode.PLANNED;
        options.check(stock, !stock);
        PrintWriter err = spec.commandLine().getErr();
        try (ScratchFolder folder = ScratchFolder.create("djlplan-run");
                WorkerProcess worker =
                        WorkerProcess.start(
                                WorkerProcess.Contestant.of(mode), options, err::println)) {
            worker.awaitLoaded();
            worker.warmUp();
            worker.writeOutputs(folder.path().resolve("outputs"));
            worker.time(options.effort().iterations());
            RunFigures figures = worker.figuresWithStockArena();
            worker.lastErrorLines().forEach(err::println);
            if (!json.isSet()) {
                figures.delegation()
                        .filter(report -> report.origin() == Origin.UNVERIFIED)
                        .ifPresent(report -> err.println(hint()));
            }
            err.flush();
            json.print(figures::toJson, () -> FigureTable.of(figures));
            return 0;
        }
    }
}
