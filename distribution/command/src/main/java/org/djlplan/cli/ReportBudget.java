package org.djlplan.cli;

import com.google.gson.JsonElement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.djlplan.cli.BudgetSweep.Measured;
import org.djlplan.cli.BudgetSweep.Refused;
import org.djlplan.cli.BudgetSweep.Result;
import org.djlplan.cli.BudgetSweep.Row;
import org.djlplan.memplan.internal.budget.ResidentWeights;

/** The budget section of a report: how a model runs in budgets. */
final class ReportBudget {

    /** Name of the part. */
    static final String NAME = "budget";

    private static final double NANOS_PER_MILLI = 1e6;

    private ReportBudget() {}

    private record Part(
            long stockPeakBytes,
            long stockLatencyNanos,
            OptionalLong leastBytes,
            List<Map<String, Object>> points) {}

    /** A curve of the weights in memory, with the events that change it. */
    private record Resident(
            List<Long> nanos,
            List<Long> bytes,
            List<Event> loads,
            List<Event> evictions,
            List<Stall> stalls) {}

    private record Event(long at, long bytes, String name) {}

    private record Stall(long at, long nanos, String name) {}

    static JsonElement of(Result result) {
        return Json.sparse(
                new Part(
                        result.stock().peakAboveIdleBytes(),
                        Math.round(result.stock().medianMillis() * NANOS_PER_MILLI),
                        result.leastBytes(),
                        result.rows().stream().map(ReportBudget::point).toList()));
    }

    private static Map<String, Object> point(Row row) {
        Map<String, Object> point = new LinkedHashMap<>();
        point.put("budgetBytes", row.bytes());
        point.put("name", row.name());
        if (row.outcome() instanceof Refused refused) {
            point.put("refused", refused.why());
        } else if (row.outcome() instanceof Measured measured) {
            point.put("peakBytes", measured.highestBytes());
            point.put("latencyRatio", measured.warm().median());
            point.put("lowRatio", measured.warm().low());
            point.put("highRatio", measured.warm().high());
            point.put("coldRatio", measured.cold().median());
            measured.weights()
                    .ifPresent(
                            weights -> {
                                point.put("binds", weights.binding());
                                point.put("resident", curve(weights));
                            });
            measured.report()
                    .ifPresent(
                            report -> {
                                long planned = report.predictedStallNanos();
                                point.put("stallNanos", report.lastStallNanos().orElse(planned));
                                point.put("pinnedBytes", report.pinnedBytes());
                                point.put("sliced", report.slicedOperators());
                            });
        }
        return point;
    }

    private static Resident curve(ResidentWeights weights) {
        long resident = weights.pinnedBytes();
        List<Long> nanos = new ArrayList<>(List.of(0L));
        List<Long> bytes = new ArrayList<>(List.of(resident));
        List<Event> loads = new ArrayList<>();
        List<Event> evictions = new ArrayList<>();
        for (ResidentWeights.Change change : weights.changes()) {
            resident += change.bytes();
            nanos.add(change.nanos());
            bytes.add(resident);
            (change.bytes() > 0 ? loads : evictions)
                    .add(new Event(change.nanos(), Math.abs(change.bytes()), change.operator()));
        }
        nanos.add(weights.nanos());
        bytes.add(resident);
        return new Resident(
                nanos,
                bytes,
                loads,
                evictions,
                weights.stalls().stream()
                        .map(stall -> new Stall(stall.nanos(), stall.waitNanos(), stall.operator()))
                        .toList());
    }
}
