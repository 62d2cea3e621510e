package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.reflect.TypeToken;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.djlplan.cli.Comparison.Variant;
import org.djlplan.cli.OutputDifference.Limit;
import org.djlplan.cli.OutputDifference.Output;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.json.Json;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.report.OutputAgreement;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.junit.jupiter.api.Test;

class ComparisonTest {

    private static final DelegationReport CHOICE =
            choice(
                    OutputAgreement.of("landmarks", 2.9e-3, 6e-4, 9.6e-3),
                    OutputAgreement.of("mask", 1, 0, 4));

    private static final List<String> TYPES = List.of("float32", "uint8");
    private static final Limit LIMIT = new Limit(9.6e-3, 4);

    private final RunFigures stock =
            figures(Map.of(Figure.MEDIAN_MILLIS, 10.0, Figure.PAGE_FAULTS, 0.0), Optional.empty());
    private final RunFigures planned =
            figures(
                    Map.of(
                            Figure.MEDIAN_MILLIS, 5.0,
                            Figure.PAGE_FAULTS, 1.0,
                            Figure.ARENA, 600.0,
                            Figure.INPUT_OUTPUT, 150.0,
                            Figure.STOCK_ARENA, 1000.0),
                    Optional.empty());
    private final RunFigures delegated =
            figures(Map.of(Figure.MEDIAN_MILLIS, 1.0, Figure.ARENA, 10.0), Optional.of(CHOICE));
    private final RunFigures tuned = figures(Map.of(Figure.MEDIAN_MILLIS, 4.0), Optional.empty());
    private final Comparison comparison =
            new Comparison(
                    stock,
                    Optional.empty(),
                    List.of(
                            exact(RunMode.PLANNED, planned, OutputDifference.NONE),
                            delegated(3e-3)),
                    ImmutableMap.of(
                            "tuned-malloc",
                            Optional.of(exact(RunMode.STOCK, tuned, OutputDifference.NONE)),
                            "jemalloc",
                            Optional.empty()),
                    List.of());

    private static RunFigures figures(
            Map<Figure, Double> values, Optional<DelegationReport> delegation) {
        return new RunFigures(
                "a <b>.tflite",
                "TFLite",
                "0.35.1",
                OptionalInt.of(2),
                values,
                "00ff",
                Optional.empty(),
                delegation,
                Optional.empty());
    }

    /** Returns a variant whose outputs must be stock's. */
    private static Variant exact(RunMode mode, RunFigures figures, OutputDifference outputs) {
        return new Variant(mode, figures, outputs, List.of(Limit.IDENTICAL), TYPES);
    }

    private Variant delegated(double relative) {
        return new Variant(
                RunMode.DELEGATED, delegated, floats(relative), List.of(LIMIT, LIMIT), TYPES);
    }

    private static OutputDifference floats(double relative) {
        return new OutputDifference(
                false, true, List.of(new Output(ElementType.FLOAT32, relative)));
    }

    @Test
    void ratio_arena_countsInputsAndOutputsToo() {
        assertEquals(OptionalDouble.of(0.75), comparison.ratio(RunMode.PLANNED, Figure.ARENA));
    }

    @Test
    void ratio_unknownOrByZeroOrBesideADelegatesMemory_isEmpty() {
        assertTrue(comparison.ratio(RunMode.PLANNED, Figure.LOAD_MILLIS).isEmpty());
        assertTrue(comparison.ratio(RunMode.PLANNED, Figure.PAGE_FAULTS).isEmpty());
        assertTrue(comparison.ratio(RunMode.DELEGATED, Figure.ARENA).isEmpty());
    }

    @Test
    void toJson_comparison_hasAllKeysWithNulls() {
        JsonObject json = comparison.toJson();
        assertEquals(
                List.of(
                        "stock",
                        "stockLosesTensor",
                        "planned",
                        "delegated",
                        "ratios",
                        "identical",
                        "maxRelativeError",
                        "against",
                        "runs"),
                List.copyOf(json.keySet()));
        JsonObject ratios = json.getAsJsonObject("ratios");
        assertEquals(0.5, ratios.get("medianMillis").getAsDouble());
        assertTrue(ratios.get("loadMillis").isJsonNull());
        assertTrue(json.get("identical").getAsBoolean());
        JsonObject against = json.getAsJsonObject("against");
        assertEquals(List.of("tuned-malloc", "jemalloc"), List.copyOf(against.keySet()));
        assertTrue(against.get("jemalloc").isJsonNull());
        JsonObject tunedJson = against.getAsJsonObject("tuned-malloc");
        assertEquals(1.25, tunedJson.getAsJsonObject("ratios").get("medianMillis").getAsDouble());
        assertEquals(0, json.getAsJsonArray("runs").size());
    }

    @Test
    void toJson_variants_haveStocksKeysAndFactsOfTheirOwn() {
        JsonObject json = comparison.toJson();
        JsonObject ofStock = json.getAsJsonObject("stock");
        JsonObject ofPlanned = json.getAsJsonObject("planned");
        JsonObject ofDelegated = json.getAsJsonObject("delegated");
        assertTrue(ofPlanned.keySet().containsAll(ofStock.keySet()), ofPlanned.toString());
        assertEquals(ofPlanned.keySet(), ofDelegated.keySet());
        assertTrue(ofStock.get("delegation").isJsonNull());
        assertTrue(ofPlanned.get("identical").getAsBoolean());
        assertFalse(ofDelegated.get("identical").getAsBoolean());
        assertTrue(ofDelegated.get("agrees").getAsBoolean());
        assertEquals(3e-3, ofDelegated.get("maxRelativeError").getAsDouble());
        assertEquals(9.6e-3, ofDelegated.get("limit").getAsDouble());
        assertEquals(0.1, ofDelegated.getAsJsonObject("ratios").get("medianMillis").getAsDouble());
        assertEquals(
                7, ofDelegated.getAsJsonObject("delegation").get("delegatedOperators").getAsInt());
    }

    @Test
    void toJson_run_hasTheKeysInOrderAndReadsBack() {
        JsonObject json = planned.toJson();
        assertEquals(
                List.of(
                        "model",
                        "engine",
                        "djl",
                        "threads",
                        "medianMillis",
                        "p95Millis",
                        "p99Millis",
                        "pageFaultsPerInference",
                        "peakBytes",
                        "peakAboveIdleBytes",
                        "peakAboveLoadedBytes",
                        "arenaBytes",
                        "inputOutputBytes",
                        "stockArenaBytes",
                        "lowerBoundBytes",
                        "naiveBytes",
                        "unplannedAllocations",
                        "delegatedOperators",
                        "loadMillis",
                        "outputSha256",
                        "unplannedReason",
                        "delegation",
                        "budget"),
                List.copyOf(json.keySet()));
        assertEquals("600", json.get("arenaBytes").toString());
        assertTrue(json.get("naiveBytes").isJsonNull());
        for (RunFigures each : List.of(planned, stock, delegated)) {
            assertEquals(each, Json.read(Json.tree(each), TypeToken.get(RunFigures.class)));
        }
    }

    private static void assertLine(String table, String pattern) {
        assertTrue(table.lines().anyMatch(line -> line.matches(pattern)), table);
    }

    @Test
    void table_comparison_showsAllAndTheRatios() {
        String table = FigureTable.of(comparison);
        assertLine(table, " +stock +planned +planned/stock +delegated +delegated/stock .*");
        assertLine(
                table,
                "latency, median +10\\.000 ms +5\\.000 ms +0\\.500 +1\\.000 ms +0\\.100"
                        + " +4\\.000 ms +1\\.250 +0\\.250");
        assertFalse(table.contains("jemalloc"), table);
        assertLine(table, "planned: outputs are identical to stock's .*");
        assertLine(
                table,
                "delegated: 7 of 9 operators in xnnpack, threads: 2 \\(stored\\): the only"
                        + " partition");
        assertLine(table, "delegated: outputs agree with stock's within 3e-3 \\(limit 9\\.6e-3\\)");
        assertLine(table, "  landmarks: 2\\.9e-3, the CPU kernels' own noise 6e-4, limit 9\\.6e-3");
        assertLine(table, "  mask: 1 step, limit 4 steps");
        assertFalse(table.contains("iffer"), table);
    }

    @Test
    void table_reasonOfControlCharacters_isPlain() {
        RunFigures run =
                new RunFigures(
                        "net.tflite",
                        "TFLite",
                        "0.35.1",
                        OptionalInt.empty(),
                        Map.of(),
                        "00ff",
                        Optional.of("tensor \u001b[2J"),
                        Optional.empty(),
                        Optional.empty());
        assertTrue(FigureTable.of(run).contains("\nruns as stock: tensor  [2J\n"));
    }

    @Test
    void agrees_plannedZerosOfOtherSigns_onlyWithATolerance() {
        assertFalse(exact(RunMode.PLANNED, planned, floats(0)).agrees());
        assertTrue(
                new Variant(RunMode.PLANNED, planned, floats(0), List.of(new Limit(1e-6, 0)), TYPES)
                        .agrees());
    }

    @Test
    void table_cpuKernelsChosen_saysWhy() {
        assertEquals(
                "the CPU kernels were chosen, threads: the engine's own (measured): no partition",
                DelegationFacts.choice(cpu(-1, Origin.MEASURED, "CPU kernels: no partition", "")));
    }

    @Test
    void table_delegatedAtOtherShapes_saysWhich() {
        assertEquals(
                "the CPU kernels were chosen, threads: 1 (unverified): placeholders; other shapes:"
                        + " 7 operators delegated",
                DelegationFacts.choice(
                        cpu(1, Origin.UNVERIFIED, "placeholders", "7 operators delegated")));
    }

    private static DelegationReport cpu(
            int threads, Origin origin, String reason, String otherShapes) {
        return new DelegationReport(
                "xnnpack",
                9,
                0,
                0,
                threads,
                origin,
                reason,
                "0123456789ab",
                List.of(),
                otherShapes);
    }

    @Test
    void complaints_stockLosesATensor_nameTheReference() {
        Variant off = exact(RunMode.PLANNED, planned, floats(1e-7));
        Comparison lost =
                new Comparison(stock, Optional.of(floats(0.5)), List.of(off), Map.of(), List.of());
        assertEquals(
                List.of(
                        "a <b>.tflite: the planned outputs differ from those of stock with every"
                                + " tensor kept by 1e-7: they must be identical"),
                lost.complaints());
        assertTrue(FigureTable.of(lost).contains("stock: outputs differ by 5e-1 from those"));
        assertTrue(lost.toJson().get("stockLosesTensor").getAsBoolean());
        Comparison twice = Comparison.median(List.of(lost, lost));
        assertEquals(lost.reference(), twice.reference());
    }

    @Test
    void complaints_outputsOutsideTheirLimit_sayHowFar() {
        assertEquals(List.of(), comparison.complaints());
        Comparison wrong =
                new Comparison(
                        stock,
                        Optional.empty(),
                        List.of(exact(RunMode.PLANNED, planned, floats(1e-7)), delegated(2e-2)),
                        Map.of(),
                        List.of());
        assertEquals(
                List.of(
                        "a <b>.tflite: the planned outputs differ from stock's by 1e-7: they must"
                                + " be identical",
                        "a <b>.tflite: the delegated outputs differ from stock's by 2e-2: the"
                                + " limit is 9.6e-3"),
                wrong.complaints());
        assertLine(FigureTable.of(wrong), "delegated: outputs DIFFER from stock's by 2e-2");
    }

    @Test
    void limit_measuredOutputs_isTheLargestOfFloatsAndAtLeastTheUsual() {
        assertEquals(List.of(LIMIT, LIMIT), DelegationFacts.limits(CHOICE, TYPES, Limit.ROUNDING));
        assertEquals(
                new Limit(2e-2, 4),
                DelegationFacts.limits(CHOICE, TYPES, new Limit(2e-2, 0)).get(0));
        assertEquals(
                List.of(Limit.ROUNDING, Limit.ROUNDING),
                DelegationFacts.limits(
                        choice(1e-6, 0), List.of("float32", "int32"), Limit.ROUNDING));
    }

    @Test
    void limit_scoreOfAWideRange_isItsOwnOnly() {
        List<Limit> limits =
                DelegationFacts.limits(
                        choice(3e-3, 0.8), List.of("float32", "float32"), Limit.ROUNDING);
        assertEquals(List.of(new Limit(1e-2, 1), new Limit(0.8, 1)), limits);
        OutputDifference far =
                new OutputDifference(
                        false,
                        true,
                        List.of(
                                new Output(ElementType.FLOAT32, 5e-3),
                                new Output(ElementType.FLOAT32, 0.5),
                                new Output(ElementType.FLOAT32, 2e-2),
                                new Output(ElementType.FLOAT32, 0.1)));
        assertFalse(far.agrees(limits));
        OutputDifference near = new OutputDifference(false, true, far.outputs().subList(0, 2));
        assertTrue(near.agrees(limits));
        assertEquals("within 5e-1 (limit 8e-1)", near.agreement(limits));
    }

    private static DelegationReport choice(double first, double second) {
        return choice(OutputAgreement.of("a", 0, 0, first), OutputAgreement.of("b", 0, 0, second));
    }

    private static DelegationReport choice(OutputAgreement... outputs) {
        return new DelegationReport(
                "xnnpack",
                9,
                7,
                1,
                2,
                Origin.STORED,
                "the only partition",
                "0123456789ab",
                List.of(outputs),
                "");
    }

    @Test
    void median_threeRuns_isOfFiguresAndOfRatios() {
        Comparison median = Comparison.median(List.of(run(10, 5), run(2, 8), run(20, 2)));
        assertEquals(OptionalDouble.of(10), median.stock().get(Figure.MEDIAN_MILLIS));
        assertEquals(OptionalDouble.of(5), median.main().figures().get(Figure.MEDIAN_MILLIS));
        assertEquals(OptionalDouble.of(0.5), median.ratio(RunMode.PLANNED, Figure.MEDIAN_MILLIS));
        assertEquals(
                OptionalDouble.of(1.25),
                median.ratio(RunMode.PLANNED, Figure.MEDIAN_MILLIS, "tuned-malloc"));
        assertEquals(Optional.empty(), median.against().get("jemalloc"));
        assertFalse(median.main().outputs().identical());
        assertEquals(OptionalDouble.of(8), median.main().outputs().maxRelativeError());
        JsonObject json = median.toJson();
        assertEquals(3, json.getAsJsonArray("runs").size());
        assertTrue(FigureTable.of(median).contains("medians of 3"), FigureTable.of(median));
    }

    private Comparison run(double stockMillis, double plannedMillis) {
        return new Comparison(
                figures(Map.of(Figure.MEDIAN_MILLIS, stockMillis), Optional.empty()),
                Optional.empty(),
                List.of(
                        exact(
                                RunMode.PLANNED,
                                figures(
                                        Map.of(Figure.MEDIAN_MILLIS, plannedMillis),
                                        Optional.empty()),
                                plannedMillis == 5
                                        ? OutputDifference.NONE
                                        : floats(plannedMillis))),
                comparison.against(),
                List.of());
    }

    @Test
    void report_hasTheFiguresAndRatiosOfEachWayAndTheTable() {
        JsonObject run = ReportRun.of(comparison, new RunWatch(), List.of()).getAsJsonObject();
        assertEquals(1 + comparison.variants().size(), run.getAsJsonArray("ways").size());
        JsonObject table = run.getAsJsonArray("tables").get(0).getAsJsonObject();
        assertTrue(table.get("title").getAsString().contains("a <b>.tflite"), table::toString);
        assertTrue(table.get("heading").toString().contains("delegated"), table::toString);
        assertTrue(table.get("notes").toString().contains("agree with stock"), table::toString);
    }
}
