package org.djlplan.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.djlplan.memplan.internal.json.Json;
import org.djlplan.memplan.internal.plan.PlanValidator;
import org.djlplan.memplan.internal.plan.Violation;
import org.djlplan.study.csv.CsvFiles;
import org.djlplan.study.csv.CsvPlan;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

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

    @Parameters(paramLabel = "PLAN.csv", description = "A plan: id,lower,upper,size,offset,alias.")
    private Path file;

    @Mixin private JsonOption json = new JsonOption();

    /** Output of the command; the fields are those of its JSON. */
    private record Output(int records, long totalBytes, boolean valid, List<Finding> violations) {

        String toText() {
            return valid
                    ? "valid: %d records in %d bytes\n".formatted(records, totalBytes)
                    : violations.stream()
                            .map(each -> each.rule + ": " + each.message + "\n")
                            .collect(Collectors.joining());
        }
    }

    /** A broken rule, and the names of the tensors that break it. */
    private record Finding(String rule, List<String> tensors, String message) {}

    @Override
    public Integer call() throws IOException {
        CsvPlan plan = CsvFiles.readPlan(ModelRef.OfFile.readable(file));
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
        json.print(() -> Json.tree(output), output::toText);
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
