package org.djlplan.memplan.cli;

import com.google.common.base.CharMatcher;
import com.google.common.collect.Streams;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.djlplan.memplan.cli.OutputDifference.Limit;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.OutputAgreement;

/** What a model's report says of delegation, as JSON and in sentences. */
final class DelegationFacts {

    private static final String FLOAT = "float";
    private static final String CPU_KERNELS = "CPU kernels: ";

    private DelegationFacts() {}

    static JsonObject toJson(DelegationReport report) {
        JsonObject json = new JsonObject();
        json.addProperty("delegate", report.delegate());
        json.addProperty("operators", report.operators());
        json.addProperty("delegatedOperators", report.delegatedOperators());
        json.addProperty("kernels", report.partitions());
        json.addProperty("threads", report.threads());
        json.addProperty("origin", report.origin());
        json.addProperty("reason", report.reason());
        JsonArray outputs = new JsonArray();
        for (OutputAgreement output : report.outputs()) {
            JsonObject each = new JsonObject();
            each.addProperty("output", output.output());
            each.addProperty("difference", output.difference());
            each.addProperty("noise", output.noise());
            each.addProperty("limit", output.limit());
            outputs.add(each);
        }
        json.add("outputs", outputs);
        return json;
    }

    /** Reads what {@link #toJson} writes. */
    static DelegationReport fromJson(JsonObject json) {
        List<OutputAgreement> outputs = new ArrayList<>();
        for (JsonElement element : json.getAsJsonArray("outputs")) {
            JsonObject each = element.getAsJsonObject();
            outputs.add(
                    new OutputAgreement(
                            each.get("output").getAsString(),
                            each.get("difference").getAsDouble(),
                            each.get("noise").getAsDouble(),
                            each.get("limit").getAsDouble()));
        }
        return new DelegationReport(
                json.get("delegate").getAsString(),
                json.get("operators").getAsInt(),
                json.get("delegatedOperators").getAsInt(),
                json.get("kernels").getAsInt(),
                json.get("threads").getAsInt(),
                json.get("origin").getAsString(),
                json.get("reason").getAsString(),
                outputs);
    }

    /** Returns what was chosen and why, in one line. */
    static String choice(DelegationReport report) {
        String threads =
                report.threads() == -1 ? "the engine's own" : Integer.toString(report.threads());
        String what =
                report.delegatedOperators() == 0
                        ? "the CPU kernels were chosen"
                        : "%d of %d operators in %s"
                                .formatted(
                                        report.delegatedOperators(),
                                        report.operators(),
                                        report.delegate());
        String reason = plain(report.reason());
        return "%s, threads: %s (%s): %s"
                .formatted(
                        what,
                        threads,
                        report.origin().toLowerCase(Locale.ROOT),
                        reason.startsWith(CPU_KERNELS)
                                ? reason.substring(CPU_KERNELS.length())
                                : reason);
    }

    /**
     * Returns a line for each output, as it was when the choice was measured.
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
                        plain(output.output()),
                        number(output.difference(), type),
                        noise,
                        number(output.limit(), type));
    }

    /**
     * Returns how far outputs may be from stock's: the largest limits of those that were measured,
     * as other inputs run here, and at least a rounding.
     *
     * @param types of the outputs, in their order
     */
    static Limit limit(DelegationReport report, List<String> types) {
        return Streams.zip(
                        report.outputs().stream(),
                        types.stream(),
                        (output, type) ->
                                type.startsWith(FLOAT)
                                        ? new Limit(output.limit(), 0)
                                        : new Limit(0, output.limit()))
                .reduce(Limit.ROUNDING, Limit::or);
    }

    /** What a file says is not to steer a terminal. */
    private static String plain(String text) {
        return CharMatcher.javaIsoControl().replaceFrom(text, ' ');
    }

    private static String number(double value, String type) {
        return type.startsWith(FLOAT) ? Scientific.text(value) : OutputDifference.steps(value);
    }
}
