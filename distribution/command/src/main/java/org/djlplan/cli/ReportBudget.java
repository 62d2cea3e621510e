package org.djlplan.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import org.djlplan.cli.BudgetSweep.Measured;
import org.djlplan.cli.BudgetSweep.Refused;
import org.djlplan.cli.BudgetSweep.Result;
import org.djlplan.cli.BudgetSweep.Row;

/** The budget section of a report: how a model runs in budgets. */
final class ReportBudget {

    /** Name of the part. */
    static final String NAME = "budget";

    private static final double NANOS_PER_MILLI = 1e6;

    private ReportBudget() {}

    static JsonObject of(Result result) {
        JsonObject json = new JsonObject();
        json.addProperty("stockPeakBytes", result.stock().peakBytes());
        json.addProperty(
                "stockLatencyNanos", Math.round(result.stock().medianMillis() * NANOS_PER_MILLI));
        result.leastBytes().ifPresent(bytes -> json.addProperty("leastBytes", bytes));
        JsonArray points = new JsonArray();
        result.rows().forEach(row -> points.add(point(row)));
        json.add("points", points);
        return json;
    }

    private static JsonObject point(Row row) {
        JsonObject json = new JsonObject();
        json.addProperty("budgetBytes", row.bytes());
        json.addProperty("name", row.name());
        if (row.outcome() instanceof Refused refused) {
            json.addProperty("refused", refused.why());
        } else if (row.outcome() instanceof Measured measured) {
            measured.highestBytes().ifPresent(bytes -> json.addProperty("peakBytes", bytes));
            json.addProperty("latencyRatio", measured.warm().median());
            json.addProperty("lowRatio", measured.warm().low());
            json.addProperty("highRatio", measured.warm().high());
            json.addProperty("coldRatio", measured.cold().median());
            measured.weights()
                    .ifPresent(
                            weights -> {
                                json.addProperty("binds", weights.binding());
                                json.add("resident", WeightFacts.curve(weights));
                            });
            measured.report()
                    .ifPresent(
                            report -> {
                                json.addProperty(
                                        "stallNanos",
                                        report.lastStallNanos()
                                                .orElse(report.predictedStallNanos()));
                                json.addProperty("pinnedBytes", report.pinnedBytes());
                                json.addProperty("sliced", report.slicedOperators());
                            });
        }
        return json;
    }
}
