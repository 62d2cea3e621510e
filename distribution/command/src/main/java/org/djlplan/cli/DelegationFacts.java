package org.djlplan.cli;

import java.util.List;
import java.util.Locale;
import org.djlplan.cli.OutputDifference.Limit;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.OutputAgreement;
import org.djlplan.thirdparty.guava.collect.Streams;

/** The delegation section of a model's report in sentences. */
final class DelegationFacts {

    private static final String FLOAT = "float";

    /** The largest limit for outputs other than scores. */
    private static final double MOST = 1e-2;

    private static final String CPU_KERNELS = "CPU kernels: ";

    private DelegationFacts() {}

    /** Returns the choices for the shapes in the file and for others, in one line. */
    static String choice(DelegationReport report) {
        String reason = TextTable.plain(report.reason());
        return "%s, threads: %s (%s): %s%s"
                .formatted(
                        what(report),
                        Figures.threads(report.threads()),
                        report.origin().name().toLowerCase(Locale.ROOT),
                        reason.startsWith(CPU_KERNELS)
                                ? reason.substring(CPU_KERNELS.length())
                                : reason,
                        report.otherShapes().isEmpty()
                                ? ""
                                : "; other shapes: " + TextTable.plain(report.otherShapes()));
    }

    private static String what(DelegationReport report) {
        if (report.operators() == 0) {
            // A TorchScript model: the name of a recipe, or stock.
            return report.delegate();
        }
        return report.delegatedOperators() == 0
                ? "the CPU kernels were chosen"
                : "%d of %d operators in %s%s"
                        .formatted(
                                report.delegatedOperators(),
                                report.operators(),
                                report.delegate(),
                                report.otherShapes().isEmpty() ? "" : " at the shapes in the file");
    }

    /**
     * Returns a line for each output with its difference when the choice was measured.
     *
     * @param types of the outputs, in their order
     */
    static List<String> outputs(DelegationReport report, List<String> types) {
        return Streams.zip(report.outputs().stream(), types.stream(), DelegationFacts::line)
                .toList();
    }

    private static String line(OutputAgreement output, String type) {
        String noise =
                output.noise() == 0
                        ? ""
                        : ", the CPU kernels' own noise " + number(output.noise(), type);
        return "  %s: %s%s, limit %s"
                .formatted(
                        TextTable.plain(output.output()),
                        number(output.difference(), type),
                        noise,
                        number(output.limit(), type));
    }

    /**
     * Returns the accepted difference of each output from stock's. Because these runs use other
     * inputs than the measurement, this is the largest limit of any output, except limits that
     * apply to the whole range of scores.
     *
     * @param types of the outputs, in their order
     * @param least minimum of all limits
     */
    static List<Limit> limits(DelegationReport report, List<String> types, Limit least) {
        List<Limit> own =
                Streams.zip(
                                report.outputs().stream().map(OutputAgreement::limit),
                                types.stream(),
                                (limit, type) ->
                                        type.startsWith(FLOAT)
                                                ? new Limit(limit, 0)
                                                : new Limit(0, limit))
                        .toList();
        Limit common =
                own.stream()
                        .map(limit -> new Limit(Math.min(limit.relative(), MOST), limit.steps()))
                        .reduce(least, Limit::or);
        return own.isEmpty() ? List.of(common) : own.stream().map(common::or).toList();
    }

    private static String number(double value, String type) {
        return type.startsWith(FLOAT)
                ? OutputDifference.scientific(value)
                : OutputDifference.steps(value);
    }
}
