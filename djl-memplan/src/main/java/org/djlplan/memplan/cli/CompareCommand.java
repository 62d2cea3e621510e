package org.djlplan.memplan.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code djlplan compare}: runs a model as stock and planned and prints both with their ratios. */
@Command(
        name = "compare",
        description = {
            "Run a model as stock and planned, each in its own process, and compare.",
            "Without --threads, stock is DJL untouched; with it, stock is a bare TFLite interpreter"
                    + " with as many threads."
        })
final class CompareCommand implements Callable<Integer> {

    @Spec private CommandSpec spec;

    @Mixin private RunOptions options = new RunOptions();

    private int rounds;
    private double tolerance;

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "5",
            description =
                    "Turns that the timed predictions are spread over (default: ${DEFAULT-VALUE}).")
    void setRounds(int rounds) {
        if (rounds < 1) {
            throw new ParameterException(
                    spec.commandLine(), "--rounds must be at least 1, not " + rounds);
        }
        this.rounds = rounds;
    }

    @Option(
            names = "--tolerance",
            paramLabel = "X",
            defaultValue = "0",
            description =
                    "Largest relative error of the outputs that still is all right (default:"
                            + " ${DEFAULT-VALUE}: they must be identical).")
    void setTolerance(double tolerance) {
        if (!(tolerance >= 0)) {
            throw new ParameterException(
                    spec.commandLine(), "--tolerance must not be negative: " + tolerance);
        }
        this.tolerance = tolerance;
    }

    @Override
    public Integer call() throws IOException {
        options.check(true, true);
        Comparison comparison = new Comparer(spec.commandLine().getErr()).compare(options, rounds);
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(comparison.toJson());
        } else {
            out.print(FigureTable.of(comparison));
        }
        out.flush();
        return comparison.outputs().within(tolerance) ? 0 : 1;
    }
}
