package org.djlplan.cli;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.djlplan.memplan.internal.plan.PlanValidator;
import org.djlplan.memplan.internal.plan.Violation;
import org.djlplan.study.csv.CsvFiles;
import org.djlplan.study.csv.CsvPlan;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Checks a plan file. The file says which tensors may share a place; only a model's graph could
 * show whether its operators allow that.
 */
@Command(
        name = "validate",
        description = {
            "Check that a plan gives no two live tensors the same bytes.",
            "Tensors that the column 'alias' joins may share a place."
        })
public final class ValidateCommand implements Callable<Integer> {

    private static final Gson GSON =
            new GsonBuilder().disableHtmlEscaping().setPrettyPrinting().create();

    @Spec private CommandSpec spec;

    @Parameters(paramLabel = "PLAN.csv", description = "A plan: id,lower,upper,size,offset,alias.")
    private Path file;

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    /** Output of the command; the fields are those of its JSON. */
    private record Output(int records, long totalBytes, boolean valid, List<Finding> violations) {}

    /** A broken rule, and the names of the tensors that break it. */
    private record Finding(String rule, List<String> tensors, String message) {}

    @Override
    public Integer call() throws IOException {
        CsvPlan plan = CsvFiles.readPlan(PlanInput.existing(file));
        List<Finding> findings =
                PlanValidator.violations(plan.problem(), plan.offsets(), plan.totalBytes(), 1)
                        .stream()
                        .map(violation -> describe(violation, plan))
                        .toList();
        Output output =
                new Output(
                        plan.problem().records().size(),
                        plan.totalBytes(),
                        findings.isEmpty(),
                        findings);
        PrintWriter printer = spec.commandLine().getOut();
        if (json) {
            printer.println(GSON.toJson(output));
        } else if (output.valid) {
            printer.printf("valid: %d records in %d bytes%n", output.records, output.totalBytes);
        } else {
            findings.forEach(finding -> printer.println(finding.rule + ": " + finding.message));
        }
        printer.flush();
        return output.valid ? ExitCode.OK : ExitCode.SOFTWARE;
    }

    private static Finding describe(Violation violation, CsvPlan plan) {
        List<String> names =
                violation.tensors().stream()
                        .map(tensor -> plan.ids().get(tensor))
                        .collect(ImmutableList.toImmutableList());
        return new Finding(violation.rule(), names, violation.describe(names));
    }
}
