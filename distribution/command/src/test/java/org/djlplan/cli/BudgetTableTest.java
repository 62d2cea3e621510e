package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.reflect.TypeToken;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.djlplan.cli.BudgetSweep.Grouped;
import org.djlplan.cli.BudgetSweep.Measured;
import org.djlplan.cli.BudgetSweep.Refused;
import org.djlplan.cli.BudgetSweep.Result;
import org.djlplan.cli.BudgetSweep.Row;
import org.djlplan.cli.BudgetSweep.Stock;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.json.Json;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.report.WeightIo;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class BudgetTableTest {

    private static final long MB = 1_000_000;
    private static final MedianRatio WARM = new MedianRatio(1.02, 1.01, 1.03, 15);
    private static final MedianRatio COLD = new MedianRatio(1.2, 1.1, 1.3, 15);
    private static final BudgetReport REPORT =
            new BudgetReport(
                    60 * MB,
                    20 * MB,
                    50 * MB,
                    230 * MB,
                    5 * MB,
                    300,
                    3,
                    40,
                    6 * MB,
                    225 * MB,
                    MB,
                    OptionalLong.of(2 * MB),
                    WeightIo.DIRECT);

    private static BudgetTable table(Row... rows) {
        RunOptions options = new RunOptions();
        new CommandLine(new Holder(options)).parseArgs("net.tflite", "--threads", "2");
        return new BudgetTable(
                options, new Result(new Stock(240 * MB, 100), Optional.empty(), List.of(rows)));
    }

    /** Parses command-line options. */
    @CommandLine.Command
    private record Holder(@CommandLine.Mixin RunOptions options) {}

    private static Row row(
            long peakBytes, Optional<MedianRatio> inGroup, OutputDifference outputs) {
        return new Row(
                "1/4",
                60 * MB,
                new Measured(
                        OptionalLong.of(50 * MB),
                        OptionalLong.of(peakBytes),
                        WARM,
                        COLD,
                        Optional.of(new Grouped(63 * MB, inGroup.isEmpty(), inGroup)),
                        outputs,
                        Optional.of(REPORT),
                        Optional.empty(),
                        Optional.empty()));
    }

    @Test
    void text_everyRow_hasItsFigures() {
        BudgetTable table =
                table(
                        row(60 * MB, Optional.of(COLD), OutputDifference.NONE),
                        new Row(
                                "1/64",
                                4 * MB,
                                new Refused("at least 20.0 MB", OptionalLong.of(20 * MB))));
        List<String> lines = table.text().lines().toList();
        assertEquals("net.tflite (TFLite, threads: 2), MB above the idle runtime", lines.get(0));
        assertEquals(
                List.of("stock", "240.0", "100.000 ms"), List.of(lines.get(2).split(" {2,}", -1)));
        assertEquals(
                List.of(
                        "1/4",
                        "60.0",
                        "60.0",
                        "50.0",
                        "25.0 %",
                        "1.020 (1.010–1.030)",
                        "1.200 (1.100–1.300)",
                        "1.200 (1.100–1.300)",
                        "2.0 ms",
                        "3",
                        "5.0",
                        "6.0",
                        "direct"),
                List.of(lines.get(3).split(" {2,}", -1)));
        assertEquals(List.of("1/64", "4.0"), List.of(lines.get(4).split(" {2,}", -1)));
        assertEquals("1/64: at least 20.0 MB", lines.get(5));
        assertEquals("smallest budget: at least 20.0 MB (memplan.budget=20000000B)", lines.get(6));
        assertEquals(List.of(), table.complaints(0));
    }

    @Test
    void text_controlCharacters_areLeftOut() {
        Row refused = new Row("1/8", MB, new Refused("tensor \u001b[2J", OptionalLong.empty()));
        assertTrue(table(refused).text().contains("\n1/8: tensor  [2J\n"));
    }

    @Test
    void complaints_zerosOfOtherSigns_areOtherBytes() {
        OutputDifference signs =
                new OutputDifference(
                        false, true, List.of(new OutputDifference.Output(ElementType.FLOAT32, 0)));
        BudgetTable table = table(row(60 * MB, Optional.of(COLD), signs));
        assertEquals(1, table.complaints(0).size());
        assertEquals(List.of(), table.complaints(1e-6));
    }

    @Test
    void complaints_budgetExceeded_onlyBeyondTheTolerance() {
        Optional<MedianRatio> ratio = Optional.of(COLD);
        assertEquals(List.of(), table(row(63 * MB, ratio, OutputDifference.NONE)).complaints(0));
        assertEquals(
                List.of("1/4: the budget of 60.0 MB is not held: 63.1 MB were in memory"),
                table(row(63 * MB + MB / 10, ratio, OutputDifference.NONE)).complaints(0));
    }

    /** A model's report is a lower bound of its smallest budget. */
    @Test
    void leastBytes_reportedBudgetIsExceeded_isWhatTheProcessTook() {
        Row tried =
                new Row(
                        "least",
                        20 * MB,
                        row(58 * MB, Optional.of(COLD), OutputDifference.NONE).outcome());
        BudgetTable table = table(row(60 * MB, Optional.of(COLD), OutputDifference.NONE), tried);
        assertTrue(table.text().contains("smallest budget: at least 58.0 MB"), table.text());
        assertEquals(List.of(), table.complaints(0));
        Row held = new Row("least", 58 * MB, tried.outcome());
        table = table(row(60 * MB, Optional.of(COLD), OutputDifference.NONE), tried, held);
        assertTrue(table.text().contains("smallest budget: 58.0 MB"), table.text());
    }

    @Test
    void complaints_killedInGroup_reportsKill() {
        BudgetTable table = table(row(60 * MB, Optional.empty(), OutputDifference.NONE));
        assertTrue(table.text().contains("  killed  "), table.text());
        assertEquals(
                List.of("1/4: killed in a control group that is charged for files, too"),
                table.complaints(0));
        JsonObject group =
                table.json(false)
                        .getAsJsonObject()
                        .getAsJsonArray("budgets")
                        .get(0)
                        .getAsJsonObject()
                        .getAsJsonObject("group");
        assertTrue(group.get("killed").getAsBoolean());
        assertTrue(group.get("ratio").isJsonNull());
    }

    @Test
    void complaints_differentOutputs_dependOnLimit() {
        OutputDifference little =
                new OutputDifference(
                        false,
                        true,
                        List.of(new OutputDifference.Output(ElementType.FLOAT32, 5e-7)));
        BudgetTable table = table(row(60 * MB, Optional.of(COLD), little));
        assertEquals(List.of(), table.complaints(1e-6));
        assertEquals(1, table.complaints(0).size());
        assertTrue(
                table.complaints(0).get(0).startsWith("1/4: outputs differ from stock's by "),
                table.complaints(0).get(0));
    }

    @Test
    void json_everyRow_hasItsFigures() {
        JsonObject json =
                table(
                                row(60 * MB, Optional.of(COLD), OutputDifference.NONE),
                                new Row(
                                        "1/64",
                                        4 * MB,
                                        new Refused("at least 20.0 MB", OptionalLong.of(20 * MB))))
                        .json(false)
                        .getAsJsonObject();
        assertEquals(240 * MB, json.getAsJsonObject("stock").get("peakAboveIdleBytes").getAsLong());
        assertEquals(20 * MB, json.get("leastBudgetBytes").getAsLong());
        JsonArray budgets = json.getAsJsonArray("budgets");
        JsonObject first = budgets.get(0).getAsJsonObject();
        assertEquals(1.02, first.getAsJsonObject("warm").get("median").getAsDouble());
        assertEquals(REPORT, Json.read(first.get("report"), TypeToken.get(BudgetReport.class)));
        assertEquals(
                "at least 20.0 MB", budgets.get(1).getAsJsonObject().get("refused").getAsString());
    }
}
