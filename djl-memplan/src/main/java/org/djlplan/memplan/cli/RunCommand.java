package org.djlplan.memplan.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code djlplan run}: runs a model once one way, in a child process, and prints its figures. */
@Command(
        name = "run",
        description = {
            "Run a model planned, or as stock, with random inputs and measure it.",
            "On PyTorch the first planned run of a model records its plan and stores it, which its"
                    + " figures show; further runs find it."
        })
final class RunCommand implements Callable<Integer> {

    @Spec private CommandSpec spec;

    @Mixin private RunOptions options = new RunOptions();

    @Option(
            names = "--stock",
            description =
                    "Run without a plan; with --threads, TFLite runs in a bare interpreter without"
                            + " DJL.")
    private boolean stock;

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        if (stock && !options.arguments().isEmpty()) {
            throw new ParameterException(
                    spec.commandLine(), "-o is for planned models: not with --stock");
        }
        options.check(stock, !stock);
        Path outputs = Files.createTempFile("djlplan", ".outputs");
        try (WorkerProcess worker =
                WorkerProcess.start(stock ? Contestant.STOCK : Contestant.PLANNED, options)) {
            worker.awaitLoaded();
            worker.warmUp();
            worker.writeOutputs(outputs);
            worker.time(options.effort().iterations());
            RunFigures figures = worker.figures().named(options.modelName());
            PrintWriter err = spec.commandLine().getErr();
            worker.lastErrorLines().forEach(err::println);
            PrintWriter out = spec.commandLine().getOut();
            if (json) {
                out.println(figures.toJson());
            } else {
                out.print(FigureTable.of(figures));
            }
            out.flush();
            return 0;
        } finally {
            Files.deleteIfExists(outputs);
        }
    }
}
