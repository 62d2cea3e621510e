package org.djlplan.memplan.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.djlplan.memplan.internal.report.Reports;
import org.junit.jupiter.api.Test;

class PlanReportTest {

    private static final BudgetReport BUDGET =
            new BudgetReport(
                    48_000_000,
                    20_500_000,
                    40_000_000,
                    240_000_000,
                    8_000_000,
                    310,
                    5,
                    0,
                    0,
                    232_000_000,
                    1_200_000,
                    OptionalLong.of(900_000),
                    WeightIo.MMAP);

    private static final PlanReport PLANNED =
            new PlanReport(
                    "TFLite",
                    Optional.empty(),
                    new PlanReport.Plan("greedy-by-size+in-place", 64, 3, 900, 400, 384, true, 60),
                    List.of(new PlanReport.Interpreter(List.of(List.of(1, 8)), 60, 384)),
                    new PlanReport.Predictions(7, 2, 1, 0, 1, 0),
                    Optional.of(
                            new DelegationReport(
                                    "xnnpack",
                                    9,
                                    8,
                                    2,
                                    1,
                                    DelegationReport.Origin.STORED,
                                    "the fastest",
                                    "0123456789ab",
                                    List.of(OutputAgreement.of("scores", 2e-7, 1e-8, 1e-4)),
                                    "")),
                    Optional.of(BUDGET),
                    Optional.empty(),
                    Optional.of(
                            new PlanReport.Peak(
                                    444, List.of(List.of(1L, 8L)), OptionalLong.of(90_000_000))));

    @Test
    void toString_all_aLineForEachPart() {
        assertEquals(
                """
                TFLite: planned
                  64 tensors in an arena of 384 bytes by greedy-by-size+in-place, proved minimal (900 naive, lower bound 400), 60 bytes of inputs and outputs
                  7 predictions: 4 by a plan, 1 online, 2 outside of arenas; 1 recorded; allocations: 0 outside of arenas, 0 escaped
                  most memory of a prediction: 444 bytes, with inputs of shapes [[1, 8]]; of the process since the load: 90000000 bytes
                  interpreter for [[1, 8]]: 60 bytes of its own, 384 of an arena
                  8 of 9 operators in 2 kernels of xnnpack, now on 1 thread (STORED, choice 0123456789ab): the fastest
                    scores differs by 2.0e-07, noise 1.0e-08, limit 1.0e-04
                  budget 48.0 MB (at least 20.5 MB): 240.0 MB of weights in 310 pieces, 8.0 MB of them pinned, 5 operators sliced, arena 40.0 MB; a prediction loads 232.0 MB by mmap and stalls for 1.2 ms as planned, 0.9 ms the last time\
                """,
                PLANNED.toString());
    }

    @Test
    void toJson_delegation_hasItsChoiceAndTheOutputs() {
        JsonObject json = JsonParser.parseString(PLANNED.toJson()).getAsJsonObject();

        assertEquals(
                JsonParser.parseString(
                        """
                        {
                          "delegate": "xnnpack",
                          "operators": 9,
                          "delegatedOperators": 8,
                          "partitions": 2,
                          "threads": 1,
                          "origin": "STORED",
                          "reason": "the fastest",
                          "choiceId": "0123456789ab",
                          "outputs": [{"output": "scores", "difference": 2e-7, "noise": 1e-8, "limit": 1e-4}],
                          "otherShapes": ""
                        }
                        """),
                json.get("delegation"));
        assertFalse(json.has("unplannedReason"), json.toString());
    }

    @Test
    void unplanned_anyReason_reportsIt() {
        PlanReport report = Reports.unplanned("PyTorch", "no such platform");
        assertFalse(report.planned());
        assertEquals(
                """
                PyTorch: as stock: no such platform
                  no plan, 0 bytes of inputs and outputs
                  0 predictions: 0 by a plan, 0 online, 0 outside of arenas; 0 recorded; allocations: 0 outside of arenas, 0 escaped\
                """,
                report.toString());
        JsonObject json = JsonParser.parseString(report.toJson()).getAsJsonObject();
        assertFalse(json.has("delegation"), json.toString());
        assertEquals("no such platform", json.get("unplannedReason").getAsString());
    }

    @Test
    void stopped_planned_keepsTheFigures() {
        PlanReport stopped = Reports.stopped(PLANNED, "a class is missing");
        assertFalse(stopped.planned());
        assertEquals(Optional.of("a class is missing"), stopped.unplannedReason());
        assertEquals(PLANNED.plan(), stopped.plan());
        assertEquals(PLANNED.predictions(), stopped.predictions());
        assertEquals(PLANNED.delegation(), stopped.delegation());
        assertEquals(PLANNED.budget(), stopped.budget());
    }

    @Test
    void toString_budgetWithRoomForAll_saysThatNothingIsLoadedPieceByPiece() {
        BudgetReport budget = Reports.whole(300_000_000, 20_000_000, 5_000_000, 240_000_000);
        assertTrue(budget.isWhole());
        assertEquals(
                "budget 300.0 MB (at least 20.0 MB): whole, 240.0 MB of weights, arena 5.0 MB",
                budget.toString());
    }

    @Test
    void toString_noBudgetAndOneThatIsTooSmall_sayWhatIsNeeded() {
        BudgetReport small = Reports.whole(10_000_000, 20_000_000, 5_000_000, 240_000_000);
        BudgetReport none =
                Reports.whole(BudgetReport.UNLIMITED, 20_000_000, 5_000_000, 240_000_000);
        String parts = "20.0 MB): whole, 240.0 MB of weights, arena 5.0 MB";
        assertFalse(small.attainable());
        assertEquals("budget 10.0 MB (too small: at least " + parts, small.toString());
        assertEquals("no budget (at least " + parts, none.toString());
    }
}
