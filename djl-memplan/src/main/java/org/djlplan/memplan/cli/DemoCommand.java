package org.djlplan.memplan.cli;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code djlplan demo}: compares stock and planned on a model that it makes itself. */
@Command(
        name = "demo",
        description = {
            "Make a MobileNet v2, run it as stock and planned, and write a report.",
            "Downloads nothing."
        })
final class DemoCommand implements Callable<Integer> {

    private static final Gson GSON =
            new GsonBuilder().setPrettyPrinting().serializeNulls().create();
    private static final int ROUNDS = 5;

    @Spec private CommandSpec spec;

    @Mixin private RunEffort effort = new RunEffort();

    @Option(
            names = "--out",
            paramLabel = "FOLDER",
            defaultValue = ".",
            description = "Where the report is written (default: the current folder).")
    private Path out;

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        checkFolder();
        Path folder = Files.createTempDirectory("djlplan-demo");
        try {
            Path model = folder.resolve(DemoModel.NAME);
            DemoModel.write(model);
            RunOptions options = RunOptions.of(model.toString(), effort, spec);
            options.check(true, true);
            Comparison measured =
                    new Comparer(spec.commandLine().getErr()).compare(options, ROUNDS);
            Comparison comparison =
                    new Comparison(
                            measured.stock().named(DemoModel.NAME),
                            measured.planned().named(DemoModel.NAME),
                            measured.outputs());
            report(comparison);
            return comparison.outputs().identical() ? 0 : 1;
        } finally {
            MoreFiles.deleteRecursively(folder, RecursiveDeleteOption.ALLOW_INSECURE);
        }
    }

    /** Finds out before minutes are spent. */
    private void checkFolder() {
        if (!Files.isDirectory(out)) {
            throw new Failure("no such folder for the report: " + out);
        }
        if (!Files.isWritable(out)) {
            throw new Failure("cannot write the report into " + out);
        }
    }

    private void report(Comparison comparison) throws IOException {
        Path jsonFile = out.resolve("djlplan-demo.json").normalize();
        Path pageFile = out.resolve("djlplan-demo.html").normalize();
        Files.writeString(jsonFile, GSON.toJson(comparison.toJson()) + "\n");
        Files.writeString(pageFile, ReportPage.of(comparison));
        PrintWriter writer = spec.commandLine().getOut();
        if (json) {
            writer.println(comparison.toJson());
        } else {
            writer.print(FigureTable.of(comparison));
            writer.println("report: " + pageFile + " (figures: " + jsonFile + ")");
        }
        writer.flush();
    }
}
