package org.djlplan.memplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.collect.ImmutableMap;
import com.google.gson.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class ComparisonTest {

    private static final OutputDifference SAME = new OutputDifference(true, OptionalDouble.of(0));

    private final RunFigures stock =
            new RunFigures(
                    "a <b>.tflite",
                    "TFLite",
                    OptionalInt.empty(),
                    Map.of(Figure.MEDIAN_MILLIS, 10.0, Figure.PAGE_FAULTS, 0.0),
                    "00ff");
    private final RunFigures planned =
            new RunFigures(
                    "a <b>.tflite",
                    "TFLite",
                    OptionalInt.of(2),
                    Map.of(
                            Figure.MEDIAN_MILLIS, 5.0,
                            Figure.PAGE_FAULTS, 1.0,
                            Figure.ARENA, 600.0,
                            Figure.INPUT_OUTPUT, 150.0,
                            Figure.STOCK_ARENA, 1000.0),
                    "00ff");
    private final RunFigures tuned =
            new RunFigures(
                    "a <b>.tflite",
                    "TFLite",
                    OptionalInt.empty(),
                    Map.of(Figure.MEDIAN_MILLIS, 4.0),
                    "00ff");
    private final Comparison comparison =
            new Comparison(
                    stock,
                    planned,
                    SAME,
                    ImmutableMap.of(
                            "tuned-malloc", Optional.of(tuned), "jemalloc", Optional.empty()),
                    List.of());

    @Test
    void ratio_arena_countsInputsAndOutputsToo() {
        assertEquals(OptionalDouble.of(0.75), comparison.ratio(Figure.ARENA));
    }

    @Test
    void ratio_unknownOrByZero_isEmpty() {
        assertTrue(comparison.ratio(Figure.LOAD_MILLIS).isEmpty());
        assertTrue(comparison.ratio(Figure.PAGE_FAULTS).isEmpty());
    }

    @Test
    void toJson_comparison_hasAllKeysWithNulls() {
        JsonObject json = comparison.toJson();
        assertEquals(
                List.of(
                        "stock",
                        "planned",
                        "ratios",
                        "identical",
                        "maxRelativeError",
                        "against",
                        "runs"),
                List.copyOf(json.keySet()));
        JsonObject ratios = json.getAsJsonObject("ratios");
        assertEquals(0.5, ratios.get("medianMillis").getAsDouble());
        assertTrue(ratios.get("loadMillis").isJsonNull());
        JsonObject against = json.getAsJsonObject("against");
        assertEquals(List.of("tuned-malloc", "jemalloc"), List.copyOf(against.keySet()));
        assertTrue(against.get("jemalloc").isJsonNull());
        JsonObject tunedJson = against.getAsJsonObject("tuned-malloc");
        assertEquals(tuned, RunFigures.fromJson(tunedJson.getAsJsonObject("figures")));
        assertEquals(1.25, tunedJson.getAsJsonObject("ratios").get("medianMillis").getAsDouble());
        assertEquals(0, json.getAsJsonArray("runs").size());
    }

    @Test
    void toJson_run_hasTheKeysInOrderAndReadsBack() {
        JsonObject json = planned.toJson();
        assertEquals(
                List.of(
                        "model",
                        "engine",
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
                        "outputSha256"),
                List.copyOf(json.keySet()));
        assertEquals("600", json.get("arenaBytes").toString());
        assertTrue(json.get("naiveBytes").isJsonNull());
        assertEquals(planned, RunFigures.fromJson(json));
        assertEquals(stock, RunFigures.fromJson(stock.toJson()));
    }

    @Test
    void table_comparison_showsBothAndTheRatio() {
        String table = FigureTable.of(comparison);
        assertTrue(
                table.lines()
                        .anyMatch(
                                l ->
                                        l.matches(
                                                "latency, median +10\\.000 ms +5\\.000 ms +0\\.500"
                                                        + " +4\\.000 ms +1\\.250")),
                table);
        assertFalse(table.contains("jemalloc"), table);
        assertTrue(table.contains("outputs are identical"), table);
    }

    @Test
    void median_threeRuns_isOfFiguresAndOfRatios() {
        Comparison median = Comparison.median(List.of(run(10, 5), run(2, 8), run(20, 2)));
        assertEquals(OptionalDouble.of(10), median.stock().get(Figure.MEDIAN_MILLIS));
        assertEquals(OptionalDouble.of(5), median.planned().get(Figure.MEDIAN_MILLIS));
        assertEquals(OptionalDouble.of(0.5), median.ratio(Figure.MEDIAN_MILLIS));
        assertEquals(OptionalDouble.of(1.25), median.ratio(Figure.MEDIAN_MILLIS, "tuned-malloc"));
        assertEquals(Optional.empty(), median.against().get("jemalloc"));
        assertFalse(median.outputs().identical());
        assertEquals(OptionalDouble.of(8), median.outputs().maxRelativeError());
        JsonObject json = median.toJson();
        assertEquals(3, json.getAsJsonArray("runs").size());
        assertTrue(FigureTable.of(median).contains("medians of 3"), FigureTable.of(median));
        assertEquals("b", median.named("b").runs().get(2).planned().model());
    }

    private Comparison run(double stockMillis, double plannedMillis) {
        return new Comparison(
                with(stock, stockMillis),
                with(planned, plannedMillis),
                new OutputDifference(plannedMillis == 5, OptionalDouble.of(plannedMillis)),
                comparison.against(),
                List.of());
    }

    private static RunFigures with(RunFigures figures, double medianMillis) {
        return new RunFigures(
                figures.model(),
                figures.engine(),
                figures.threads(),
                Map.of(Figure.MEDIAN_MILLIS, medianMillis),
                figures.outputSha256());
    }

    @Test
    void page_modelNameWithMarkup_isEscaped() {
        String page = ReportPage.of(List.of(comparison));
        assertTrue(page.contains("a &lt;b&gt;.tflite"), page);
    }
}
