package org.djlplan.memplan.internal.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.OptionalLong;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.report.WeightIo;
import org.junit.jupiter.api.Test;

class BudgetReportRecordTest {

    @Test
    void toString_roomForAll_saysThatNothingIsLoadedPieceByPiece() {
        BudgetReport report =
                BudgetReportRecord.whole(300_000_000, 20_000_000, 5_000_000, 240_000_000);
        assertTrue(report.isWhole());
        assertEquals(
                "budget 300.0 MB (at least 20.0 MB): whole, 240.0 MB of weights, arena 5.0 MB",
                report.toString());
    }

    @Test
    void toString_asMuchAsItNeeds_namesNoBudget() {
        BudgetReport report =
                BudgetReportRecord.whole(
                        BudgetReport.UNLIMITED, 20_000_000, 5_000_000, 240_000_000);
        assertEquals(
                "no budget (at least 20.0 MB): whole, 240.0 MB of weights, arena 5.0 MB",
                report.toString());
    }

    @Test
    void toString_budgetThatIsTooSmall_saysSo() {
        BudgetReport report =
                new BudgetReportRecord(
                        10_000_000,
                        20_000_000,
                        19_000_000,
                        240_000_000,
                        0,
                        310,
                        5,
                        BudgetReportRecord.Delegated.NOTHING,
                        new BudgetReportRecord.Loading(
                                240_000_000, 0, OptionalLong.empty(), WeightIo.DIRECT));
        assertFalse(report.attainable());
        assertEquals(
                "budget 10.0 MB (too small: at least 20.0 MB): 240.0 MB of weights in 310 pieces,"
                        + " 0 bytes of them pinned, 5 operators sliced, arena 19.0 MB; a prediction"
                        + " loads 240.0 MB by direct and stalls for 0.0 ms as planned",
                report.toString());
    }
}
